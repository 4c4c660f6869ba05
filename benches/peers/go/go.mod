module spinpark/peers

go 1.22
