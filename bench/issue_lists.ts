/** Lists of a million issues: what docs/decisions/0100-three-ways-to-read-a-page.md says of how long their pages take. */
import type { Client } from '../test/support/client.ts';
import type { Instance } from './instance.ts';
import { type Measured, measuredFrom, timeOf } from './measure.ts';
import { ms, plainRow, type Row } from './table.ts';

type Parameters = Record<string, unknown>;

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

/** The common word is in a fifth of all issues, the rare one in a few of a thousand. */
const words = { common: 'cfcd', rare: 'ohel' };

const filters: Parameters[] = [
  {},
  { state: 'opened' },
  { labels: 'label-1' },
  { labels: 'label-9' },
  { labels: 'label-19' },
  // Half of the projects lack it.
  { labels: 'shared-3' },
  { labels: 'None' },
  { labels: 'Any' },
  { not: { labels: 'label-2' } },
  { assignee_id: 'None' },
  { assignee_id: 'Any' },
  { assignee_username: 'worker-7' },
  { not: { assignee_username: 'worker-7' } },
  { author_username: 'worker-7' },
  { not: { author_username: 'worker-7' } },
  { milestone: 'milestone-3' },
  { milestone: 'None' },
  { milestone: 'Any' },
  { milestone_id: 'Upcoming' },
  { milestone_id: 'Started' },
  { not: { milestone: 'milestone-3' } },
  { confidential: true },
  { confidential: false },
  { created_after: daysAgo(60) },
  { created_before: daysAgo(6000) },
  { updated_after: daysAgo(60) },
  { updated_before: daysAgo(600) },
  { due_date: 'month' },
  { due_date: 'overdue' },
  { due_date: '0' },
  { due_date: 'any' },
  { weight: '3' },
  { weight: 'None' },
  { weight: 'Any' },
  { issue_type: 'incident' },
  { epic_id: 'Any' },
  { epic_id: 'None' },
  { my_reaction_emoji: 'None' },
  { iids: [5, 7] },
  { search: words.common },
  { search: words.rare },
];

const pairs: Parameters[] = [
  ...['label-1', 'label-9', 'shared-3'].map((labels) => ({ labels })),
  { assignee_username: 'worker-7' },
  { milestone: 'milestone-3' },
  { author_username: 'worker-7' },
  { search: words.common },
  { search: words.rare },
].map((filter) => ({ state: 'opened', ...filter }));

/** No index has these: all open issues are read. In the seed, none of them lacks an assignee. */
const bare: Parameters[] = [{ labels: 'None' }, { assignee_id: 'None' }].map((filter) => ({
  state: 'opened',
  ...filter,
}));

const triples: Parameters[] = [
  { state: 'opened', labels: 'label-1', assignee_id: 'None' },
  { state: 'closed', labels: 'label-1,label-9', author_username: 'worker-7' },
  { milestone: 'Any', search: words.common, confidential: false },
  { labels: 'None', assignee_id: 'None', weight: 'None' },
];

const columns = ['created_at', 'updated_at', 'title', 'milestone_due', 'label_priority', 'priority'];
const orders: Parameters[] = [...columns, 'popularity', 'due_date', 'weight', 'relative_position'].flatMap((order_by) =>
  ['desc', 'asc'].map((sort) => ({ order_by, sort })),
);

/** Each of some filters in each order. */
const inEachOrder = (some: readonly Parameters[]): Parameters[] =>
  some.flatMap((filter) => orders.map((order) => ({ scope: 'all', ...filter, ...order })));

async function read(client: Client, parameters: Parameters) {
  const reply = await client.get('/issues', parameters);
  if (reply.status !== 200) throw new Error(`${JSON.stringify(parameters)} answers ${reply.status}`);
  return reply;
}

/** How long some pages of lists take, each asked for once. */
async function pagesOf({ api }: Instance, lists: readonly Parameters[], pages: readonly number[]): Promise<Measured> {
  const taken_ms: number[] = [];
  for (const list of lists) for (const page of pages) taken_ms.push(await timeOf(() => read(api, { ...list, page })));
  return measuredFrom(taken_ms);
}

/** How long the pages behind the links of far ones take. */
async function pagesBehindLinks({ api }: Instance, lists: readonly Parameters[]): Promise<Measured> {
  const taken_ms: number[] = [];
  for (const list of lists) {
    let { headers } = await read(api, { ...list, page: 51 });
    for (let followed = 0; followed < 3; followed++) {
      const next = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
      if (next === undefined) break;
      const parameters = { ...list, cursor: new URL(next).searchParams.get('cursor') };
      taken_ms.push(await timeOf(async () => ({ headers } = await read(api, parameters))));
    }
  }
  return measuredFrom(taken_ms);
}

/** Pages of lists by what they are filtered by and how far they are. */
export async function measureIssueLists(instance: Instance): Promise<Row[]> {
  const row = (name: string, measured: Measured, target: string) =>
    plainRow(`issues: ${name}`, ms(measured.p90_ms), target, measured);
  return [
    row(
      'any filter and order, first three pages',
      await pagesOf(instance, inEachOrder(filters), [1, 2, 3]),
      'P90 ≤ 100 ms',
    ),
    row(
      'usual pairs, any order, first three pages',
      await pagesOf(instance, inEachOrder(pairs), [1, 2, 3]),
      'P90 ≤ 100 ms',
    ),
    row('behind a link', await pagesBehindLinks(instance, inEachOrder(filters.slice(0, 8))), 'P90 ≤ 100 ms'),
    row('first jump, to page 500', await pagesOf(instance, inEachOrder(filters.slice(0, 8)), [500]), 'P90 ≤ 1 s'),
    row('open without a label or an assignee, any order', await pagesOf(instance, inEachOrder(bare), [1]), 'P99 ≤ 2 s'),
    row('three filters, any order', await pagesOf(instance, inEachOrder(triples), [1, 40]), 'P99 ≤ 2 s'),
  ];
}
