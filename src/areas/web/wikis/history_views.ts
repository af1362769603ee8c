/** Views of a wiki page's history. */
import type { Static } from 'typebox';
import type { Page } from '../../../http/index.ts';
import { html, pager, rows, type Seen, time, type View } from '../../../pages/index.ts';
import type { Diff } from '../../code/repository/index.ts';
import type { WikiPageVersion } from '../../code/wikis/index.ts';
import { diffPieces, pagesOfDiffs } from '../diffs/views.ts';
import { around, type InWiki, pageAddress } from './views.ts';

interface InPage extends InWiki {
  slug: string;
}

const addressOf = ({ slug, ...wiki }: InPage): string => pageAddress(wiki, slug);

export function historyView(
  { versions, ...at }: InPage & { versions: Page<Static<typeof WikiPageVersion>> },
  seen: Seen,
): View {
  const address = addressOf(at);
  return {
    ...around(at, ['History', at.slug]),
    main: html`<p><a href="${address}">Back to the page</a></p>
${rows(
  versions.items.map(
    ({ id, title, author_name, authored_date }) =>
      html`<a class="title" href="${`${address}?version=${id}`}">${title}</a>
<div class="soft">${author_name} ${time(authored_date)} · <a href="${`${address}/diff?version_id=${id}`}">Changes<span class="visually-hidden"> of ${id.slice(0, 8)}</span></a></div>`,
  ),
  'There are no versions.',
)}
${pager(versions, seen)}`,
  };
}

export function diffView({ diffs, ...at }: InPage & { diffs: readonly Static<typeof Diff>[] }, seen: Seen): View {
  return {
    ...around(at, ['Changes', at.slug]),
    main: diffPieces({ page: pagesOfDiffs(diffs), fileAt: () => addressOf(at) }, seen),
  };
}
