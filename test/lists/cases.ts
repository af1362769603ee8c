/** What is asked for, and the slow but simple computation of what is to be answered. */
import type { thresholds } from '../../src/lists/thresholds.ts';
import type { Random } from '../support/random.ts';
import type { Asker, Filter } from './filters.ts';
import { filtersOf } from './kind_filters.ts';
import { compared, orderNames, type Sort } from './orders.ts';
import { readers } from './places.ts';
import type { Kind, Row } from './rows.ts';
import { type Scope, scopesOf, sights } from './scopes.ts';
import type { ListWorld } from './world.ts';

/** The thresholds with which few rows are enough to take every way, and to find out on it that another one is better. */
export const lowered = {
  lookedUp: { far: 40 },
  lookedUpIfFew: { far: 30, lookedUp: 30, counted: 30 },
  lookedUpUnlessExpected: { far: 30, lookedUp: 1_000, expected: 0.05 },
  walked: { far: 40, lookedUp: 0 },
  // Pages end at marks, so that more rows are tested, and then all are collected.
  walkedAgain: { far: 10, lookedUp: 0, tested: [1, 60], testedPerRow: 1, testedPerPlace: 1, near: 8 },
  collected: { far: 30, lookedUp: 0, walkedTo: 40, counted: 100 },
} satisfies Record<string, Partial<typeof thresholds>>;

type Way = keyof typeof lowered;
export const ways = Object.keys(lowered) as Way[];

export interface Case {
  way: Way;
  scope: Scope;
  asker: Asker;
  filters: readonly Filter[];
  order_by: string;
  sort: Sort;
  per_page: number;
  /** How much of the list is before its page, in percent; null for a page that is behind any end. */
  before: number | null;
}

const isOwn = ({ author_id, assignees }: Row, { id }: Asker) =>
  id !== undefined && (author_id === id || assignees.includes(id));

/** The whole list. */
export function listOf(
  { rows }: ListWorld,
  { scope, asker, filters, order_by, sort }: Omit<Case, 'way' | 'per_page' | 'before'>,
) {
  const isSeen = (row: Row) => {
    const seen = sights[scope.kind](asker.reader, row.place);
    if (seen === 'all' || !row.confidential) return seen !== 'nothing';
    return seen === 'plain' && scope.kind === 'issue' && isOwn(row, asker);
  };
  return rows[scope.kind]
    .filter((row) => scope.has(row.place) && isSeen(row) && filters.every(({ means }) => means(row, asker)))
    .toSorted((a, b) => compared(a, b, order_by, sort));
}

export function parametersOf({ scope, filters }: Case): Record<string, unknown> {
  const all = [scope, ...filters].map(({ parameters }) => parameters);
  const not = Object.assign({}, ...all.map((each) => each.not ?? {}));
  return { ...Object.assign({}, ...all), ...(Object.keys(not).length > 0 ? { not } : {}) };
}

/** Orders in which what a filter says about a column may say where the list begins. */
const related: Record<string, readonly string[]> = {
  labels: ['label_priority', 'priority'],
  milestone: ['milestone_due', 'priority'],
  'created after': ['created_at'],
  'created before': ['created_at'],
  'updated after': ['updated_at'],
  'updated before': ['updated_at'],
  'due date': ['due_date'],
  weight: ['weight'],
};

/**
 * Each filter, also with the orders that it is related to, each order on each way, and combinations of two or three filters.
 * @param combinations how many are drawn
 */
export function casesOf(lists: ListWorld, random: Random, kind: Kind, combinations: number): Case[] {
  const scopes = scopesOf(lists).filter((scope) => scope.kind === kind);
  const idOf = (reader: Asker['reader']) => (reader === 'anonymous' ? undefined : lists.here.people[reader].id);
  const drawn = (filters: readonly Filter[], order_by: string, sort: Sort) => {
    const scope = random.of(scopes);
    const reader = random.of(readers.filter(scope.admits));
    return { scope, asker: { reader, id: idOf(reader) }, filters, order_by, sort };
  };
  const sortOf = () => random.of<Sort>(['asc', 'desc']);
  const one = (way: Way, filters: readonly Filter[], order_by: string, sort: Sort = sortOf()): Case => {
    // An empty list says little.
    const tries = Array.from({ length: 4 }, () => drawn(filters, order_by, sort));
    const chosen = tries.find((each) => listOf(lists, each).length > 0) ?? tries[0]!;
    const before = random.happens(50) ? random.below(3) : random.happens(95) ? random.below(115) : null;
    return { way, ...chosen, per_page: 1 + random.below(10), before };
  };
  const orders = orderNames[kind];
  const combined = () => {
    const some = Array.from({ length: 2 + random.below(2) }, () => random.of(filtersOf(kind, lists, random)));
    return [...new Map(some.map((filter) => [filter.topic, filter])).values()];
  };
  const filters = filtersOf(kind, lists, random);
  return [
    ...filters.map((filter) => one(random.of(ways), [filter], random.of(orders))),
    ...filters.flatMap((filter) =>
      (related[filter.topic] ?? [])
        .filter((name) => orders.includes(name))
        .map((name) => one(random.of(['walked', 'walkedAgain']), [filter], name)),
    ),
    ...orders.flatMap((name) => ways.map((way, index) => one(way, [], name, index % 2 === 0 ? 'asc' : 'desc'))),
    ...Array.from({ length: combinations }, () => one(random.of(ways), combined(), random.of(orders))),
  ];
}
