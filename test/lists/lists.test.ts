/** Compares lists of issues, merge requests and epics with a slow but simple computation: all filters, orders and pages, found in each way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { thresholds } from '../../src/lists/thresholds.ts';
import { type Answer, nextPath } from '../support/client.ts';
import { randomFrom } from '../support/random.ts';
import { runs } from '../support/runs.ts';
import { type Case, casesOf, listOf, lowered, parametersOf, ways } from './cases.ts';
import type { Kind, Row } from './rows.ts';
import { addManyProjects, type ListWorld, listWorld } from './world.ts';

const usual = { ...thresholds };

const idsIn = (rows: readonly { id: number }[]) => rows.map(({ id }) => id);

/** A page that only lists with a total have. */
const beyond = 60_000;

/** Holds a page against the list. @returns the path of the next page, if there is one */
function comparePage(answer: Answer, list: readonly Row[], page: number, per_page: number, received: string) {
  const { status, body, headers } = answer;
  const total = list.length <= thresholds.counted ? String(list.length) : null;
  if (page === beyond && total === null) {
    assert.equal(status, 405, received);
    return undefined;
  }
  assert.equal(status, 200, `${received} ${JSON.stringify(body)}`);
  assert.deepEqual(idsIn(body), idsIn(list.slice((page - 1) * per_page, page * per_page)), received);
  assert.equal(headers.get('x-page'), String(page), received);
  assert.equal(headers.get('x-total'), total, received);
  const next = nextPath(answer);
  assert.equal(next !== undefined, list.length > page * per_page, received);
  return next;
}

/**
 * Reads a page, the next one behind its link and, if that has a cursor, one more and the next one also by number, in the other direction too.
 * @returns how many cursors were followed
 */
async function compare(lists: ListWorld, each: Case): Promise<number> {
  const { way, scope, asker, per_page, before, order_by, sort } = each;
  const list = listOf(lists, each);
  const first = before === null ? beyond : 1 + Math.floor((list.length * before) / 100 / per_page);
  const client = lists.here.as(asker.reader);
  const asked: Record<string, unknown> = { ...parametersOf(each), order_by, sort, per_page, page: first };
  const title = `${way}: ${asker.reader} ${scope.path} ${JSON.stringify(asked)}`;
  const answer = await client.get(scope.path, asked);
  if (asker.id === undefined && scope.parameters.scope === 'all' && asked.scope !== 'all') {
    assert.equal(answer.status, 401, title);
    return 0;
  }
  let next = comparePage(answer, list, first, per_page, title);
  let cursors = 0;
  for (let page = first + 1; next !== undefined && page < first + 3; page++) {
    if (next.includes('cursor=')) cursors += 1;
    const path: string = next;
    next = comparePage(await client.get(path), list, page, per_page, `${title} ${path}`);
    if (cursors === 0) return 0;
  }
  if (cursors === 0) return 0;
  for (const direction of [sort, sort === 'asc' ? 'desc' : 'asc'] as const) {
    const numbered = await client.get(scope.path, { ...asked, sort: direction, page: first + 1 });
    const expected = listOf(lists, { ...each, sort: direction });
    comparePage(numbered, expected, first + 1, per_page, `${title}, then the next one ${direction}`);
  }
  return cursors;
}

/** Compares the statistics of a list, which do not have all of its filters. */
async function compareStatistics(lists: ListWorld, each: Case): Promise<void> {
  const { scope, asker, filters } = each;
  const parameters = parametersOf(each);
  const others = ['state', 'due date', 'type', 'closed by'];
  if (scope.kind !== 'issue' || !scope.isWhole || filters.some(({ topic }) => others.includes(topic))) return;
  if (asker.id === undefined && parameters.scope !== 'all') return;
  const { status, body } = await lists.here.as(asker.reader).get(`${scope.path}_statistics`, parameters);
  const list = listOf(lists, each);
  const opened = list.filter(({ state }) => state === 'opened').length;
  assert.equal(status, 200, JSON.stringify(body));
  const counts = { all: list.length, closed: list.length - opened, opened };
  assert.deepEqual(body.statistics.counts, counts, `${asker.reader} ${scope.path} ${JSON.stringify(parameters)}`);
}

/** Compares all, a few at once, on one way after the other. @returns how many cursors were followed */
async function compareAll(lists: ListWorld, cases: readonly Case[]): Promise<number> {
  let cursors = 0;
  for (const way of ways) {
    Object.assign(thresholds, usual, lowered[way]);
    const queue = cases.filter((each) => each.way === way).values();
    const worker = async () => {
      for (const each of queue) {
        const followed = await compare(lists, each);
        cursors += followed;
        if (way === 'lookedUp') await compareStatistics(lists, each);
      }
    };
    await Promise.all([worker(), worker(), worker(), worker()]);
  }
  return cursors;
}

test('lists equal the result of a slow computation, in order, on every page', async (t) => {
  t.after(() => Object.assign(thresholds, usual));
  const random = randomFrom(20_261_128);
  const lists = await listWorld(random);
  const combinations = { issue: runs(80, 2_000), merge_request: runs(60, 1_000), epic: runs(25, 500) };
  const cases = (Object.keys(combinations) as Kind[]).flatMap((kind) =>
    casesOf(lists, random, kind, combinations[kind]),
  );
  const cursors = await compareAll(lists, cases);
  assert.ok(cursors > 100, `${cursors} links have a cursor`);
  await addManyProjects(lists);
  const everywhere = cases.filter(({ scope }) => scope.parameters.scope === 'all');
  await compareAll(lists, everywhere);
});
