/** Views of errors: where they happened, how often, and what led to them. */
import type { Static } from 'typebox';
import { type Content, chip, facts, type Html, html, icon, linkTarget, time } from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import type { ErrorDetails, ErrorEventDetails } from '../../work/error_tracking/index.ts';

type Frame = Static<typeof ErrorEventDetails>['stack_trace_entries'][number];

const height = 40;

/**
 * Bars of the events over time.
 * @param counts the start of each hour or day in seconds since 1970, and the number of its events
 * @param unit of a bar
 */
export function barsView(counts: readonly (readonly [number, number])[], unit: 'hour' | 'day'): Html {
  const most = Math.max(1, ...counts.map(([, count]) => count));
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  const said = `${counted(total, 'event')} in ${counted(counts.length, unit)}, at most ${most} an hour`.replace(
    'an hour',
    unit === 'hour' ? 'an hour' : 'a day',
  );
  return html`<svg class="bars" viewBox="0 0 ${counts.length * 10} ${height}" role="img" aria-label="${said}">${counts.map(
    ([, count], index) =>
      html`<rect x="${index * 10 + 1}" y="${height - Math.ceil((count / most) * height)}" width="8" height="${Math.ceil((count / most) * height)}"/>`,
  )}</svg>`;
}

/** `pick in src/pick.ts, line 12`. */
function placeOf({ function: name, filename, abs_path, lineNo, source }: Frame, url: string): Content {
  const file = source?.file_path ?? filename ?? abs_path ?? 'an unknown file';
  const line = lineNo === null ? '' : `, line ${lineNo}`;
  const place = source ? html`<a href="${linkTarget(source.web_url, url)}">${file}${line}</a>` : html`${file}${line}`;
  return html`<code>${name ?? '?'}</code> in ${place}`;
}

/** The lines around the one that failed. */
const contextView = ({ context, lineNo }: Frame): Content =>
  context.length > 0 &&
  html`<table class="code"><tbody>${context.map(
    ([number, text]) =>
      html`<tr ?class="${number === lineNo && 'failed'}"><td class="line">${number}</td><td>${text}</td></tr>`,
  )}</tbody></table>`;

const blameView = ({ blame }: Frame, url: string): Content =>
  blame &&
  html`<p class="soft">Last changed by ${blame.author_name} ${time(blame.authored_date)} in <a href="${linkTarget(blame.web_url, url)}">${blame.title}</a></p>`;

/** The calls of an event, the innermost first; foreign ones without a source are folded. */
export function stackView(frames: readonly Frame[], url: string): Html {
  if (frames.length === 0) return html`<p class="soft">The event has no stack.</p>`;
  const innermost = frames.toReversed();
  const firstOwn = Math.max(
    0,
    innermost.findIndex(({ source }) => source !== null),
  );
  return html`<ol class="stack">${innermost.map(
    (frame, index) =>
      html`<li><details ?open="${index === firstOwn}"><summary>${placeOf(frame, url)}</summary>${contextView(frame)}${blameView(frame, url)}</details></li>`,
  )}</ol>`;
}

/** The commit that last changed the innermost line of the project's own code. */
export function suspectView(frames: readonly Frame[], url: string): Content {
  const suspect = frames.toReversed().find(({ blame }) => blame !== null);
  if (!suspect) return undefined;
  const { blame, source, lineNo } = suspect;
  return html`<section class="notice" aria-labelledby="suspect"><h2 id="suspect">Suspect commit</h2>
<p>${icon('commit')} <a href="${linkTarget(blame!.web_url, url)}">${blame!.title}</a> by ${blame!.author_name}, ${time(blame!.authored_date)}</p>
<p class="soft">It last changed line ${lineNo} of ${source?.file_path}, which is the innermost of your code in the stack.</p></section>`;
}

/** The most frequent values of each tag. */
export const tagsView = (tags: Static<typeof ErrorDetails>['tags']): Html =>
  facts(
    tags.map(({ key, values }) => [
      key,
      values.map(({ value, count }) => html`${chip(value)} <span class="soft">${count}</span> `),
    ]),
  );
