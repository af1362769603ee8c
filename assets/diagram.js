// Draws the diagram that the page around this frame sends, and says how high it is.
addEventListener('message', async ({ data: { text, isDark } }) => {
  mermaid.initialize({ startOnLoad: false, theme: isDark ? 'dark' : 'default', suppressErrorRendering: true });
  const { svg } = await mermaid.render('diagram', text).catch(() => ({}));
  if (svg) document.body.innerHTML = svg;
  parent.postMessage({ height: svg ? document.documentElement.scrollHeight : 0 }, '*');
});
