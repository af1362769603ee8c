/** Views of comparisons. */
import type { Static } from 'typebox';
import { form, type Html, html, type Seen, type View } from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import { type Comparison, comparePage } from '../../code/repository/index.ts';
import { type DiffSource, diffPieces } from '../diffs/views.ts';
import { newComparisonPage } from './address_rules.ts';
import { commitRow } from './commit_views.ts';

export interface ShownComparison {
  id: string;
  from: string;
  to: string;
  comparison: Static<typeof Comparison>;
  diffs: DiffSource;
}

export interface NewComparison {
  id: string;
  from: string | undefined;
  to: string | undefined;
}

/** The maximum number of commits shown; older ones are omitted. */
const commitsShown = 100;

async function* pieces({ id, from, to, comparison, diffs }: ShownComparison, seen: Seen): AsyncGenerator<Html> {
  const { commits, compare_timeout, compare_same_ref } = comparison;
  const newest = commits.slice(-commitsShown).reverse();
  yield html`<p class="actions"><a href="${newComparisonPage(id)}">Compare others</a>
<a href="${comparePage(id, `${to}...${from}`)}" rel="nofollow">The other way round</a></p>
${compare_same_ref && html`<p class="notice">Both are the same commit.</p>`}
${compare_timeout && html`<p class="notice">The comparison is too large to be shown as a whole.</p>`}
<h2>${counted(commits.length, 'commit')}</h2>
${newest.length < commits.length && html`<p class="soft">The newest ${newest.length} are shown.</p>`}
${newest.length > 0 && html`<ul class="rows">${newest.map((commit) => commitRow(id, commit))}</ul>`}`;
  yield* diffPieces(diffs, seen);
}

export function compareView(shown: ShownComparison, seen: Seen): View {
  const { id, from, to } = shown;
  return {
    title: [`Changes from ${from} to ${to}`, id],
    place: { id, kind: 'project', tab: 'compare' },
    main: pieces(shown, seen),
  };
}

export const newComparisonView = ({ id, from, to }: NewComparison, seen: Seen): View => ({
  title: ['Compare', id],
  place: { id, kind: 'project', tab: 'compare' },
  main: html`<p>Shows the commits and changes that one branch, tag or commit has and another one has not.</p>
${form(seen, 'compare', {
  fields: [
    { name: 'from', label: 'From', value: from, is_required: true },
    { name: 'to', label: 'To', value: to, is_required: true },
  ],
  button: 'Compare',
})}`,
});
