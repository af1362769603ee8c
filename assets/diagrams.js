// Shows blocks of Mermaid as pictures. They are drawn in a frame that can reach nothing else of the page.
const { classList } = document.documentElement;
const isDark =
  ['theme-dark', 'theme-dimmed'].some((theme) => classList.contains(theme)) ||
  (!classList.contains('theme-light') && matchMedia('(prefers-color-scheme: dark)').matches);

for (const code of document.querySelectorAll('code.language-mermaid')) {
  const frame = document.createElement('iframe');
  frame.className = 'diagram';
  frame.title = 'Diagram';
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.height = 0;
  frame.addEventListener('load', () => frame.contentWindow.postMessage({ text: code.textContent, isDark }, '*'));
  addEventListener('message', ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    // What cannot be drawn stays as it was written.
    if (!(data.height > 0)) return frame.remove();
    frame.height = Math.min(data.height, 4000);
    const details = document.createElement('details');
    const summary = document.createElement('summary');
    summary.textContent = 'Source of the diagram';
    code.parentElement.replaceWith(details);
    details.append(summary, code.parentElement);
  });
  frame.src = '/assets/diagram.html';
  code.parentElement.before(frame);
}
