/** The view of a job's log. */
import { type Content, type Html, html } from '../../../pages/index.ts';
import { type LogLine, type LogSection, logParts, type Piece } from './log_rules.ts';

const piece = ({ text, colour, bold }: Piece): Content => {
  const looks = [colour && `ink-${colour}`, bold && 'bold'].filter(Boolean).join(' ');
  return looks === '' ? text : html`<span class="${looks}">${text}</span>`;
};

const content = ({ pieces }: LogLine): Content => pieces.map(piece);

const line = (row: LogLine): Html =>
  html`<div id="L${row.number}"><a href="#L${row.number}">${row.number}</a><span>${content(row)}</span></div>`;

const section = ({ heading, collapsed, seconds, lines }: LogSection): Html =>
  html`<details ?open="${!collapsed}"><summary id="L${heading.number}">${content(heading)}${
    seconds !== undefined && html` <span class="soft">${seconds} s</span>`
  }</summary>${lines.map(line)}</details>`;

/**
 * The log of a job.
 * @param text its end, if it is longer
 */
export const logView = ({ text, is_cut, whole }: { text: string; is_cut: boolean; whole: string }): Html =>
  html`<h2>Log</h2>
<p class="soft">${is_cut && 'Only the end is shown. '}<a href="${whole}">The whole log as text</a></p>
<div class="log" tabindex="0" role="region" aria-label="Log">${logParts(text).map((part) =>
    'lines' in part ? section(part) : line(part),
  )}</div>`;
