// Pages link to sources by their paths in the project, which are not in the book: there the link leads to the repository.
(() => {
    const repository = 'https://github.com/spinpark/spinpark/blob/main/';
    const book = new URL(path_to_root || './', window.location.href);
    // The book's folder stands for docs/; what is above it is the project's.
    const project = new URL('../', book);
    for (const link of document.querySelectorAll('main a[href^="."]')) {
        const to = new URL(link.getAttribute('href'), window.location.href);
        if (to.href.startsWith(book.href) || !to.href.startsWith(project.href)) continue;
        // mdBook has made .html of .md.
        const path = to.href.slice(project.href.length).replace(/\.html(?=#|$)/, '.md').replace(/(^|\/)index\.md/, '$1README.md');
        link.href = repository + path;
    }
})();
