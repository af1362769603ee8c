/** HTML that people write in their texts: tags that are not shown as HTML are shown as text, so that nothing that was written disappears. */

/** The elements of Markdown, and others that people write by hand for the same purpose. */
export const keptTags = (
  'p br hr h1 h2 h3 h4 h5 h6 strong em b i u s strike del ins mark sub sup kbd code tt pre samp var q cite dfn abbr small bdo time wbr ruby rt rp ' +
  'blockquote ul ol li dl dt dd a img table caption thead tbody tfoot tr th td details summary div span figure figcaption'
).split(' ');

/** Tags that only say how the text between them looks: they are removed, and the text stays. */
const removedTags = 'picture source center font big nobr colgroup col'.split(' ');

const known = new Set([...keptTags, ...removedTags]);

/** A whole tag. Quotes are only around values, so that the filter behind this finds its end at the same place. */
const tag = /<\/?([a-z][a-z0-9-]*)(?=[\s/>])(?:[^<>"'=]|=\s*"[^"]*"|=\s*'[^']*'|=(?!\s*["']))*>/iy;

/**
 * Writes each `<` as text unless it begins a known tag, and takes out comments.
 * @param markup HTML as it was written
 */
export function shownTags(markup: string): string {
  const lastClose = markup.lastIndexOf('-->');
  let shown = '';
  let end = 0;
  for (let at = markup.indexOf('<'); at !== -1; at = markup.indexOf('<', end)) {
    shown += markup.slice(end, at);
    tag.lastIndex = at;
    const [whole = '', name = ''] = tag.exec(markup) ?? [];
    if (known.has(name.toLowerCase())) {
      shown += whole;
      end = at + whole.length;
    } else if (markup.startsWith('<!--', at) && lastClose >= at + 2) {
      end = markup.indexOf('-->', at + 2) + 3; // `<!-->` is a comment, too
    } else {
      shown += '&lt;';
      end = at + 1;
    }
  }
  return shown + markup.slice(end);
}
