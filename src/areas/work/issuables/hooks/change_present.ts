/** What has changed about an issue or a merge request, in webhooks. */
import { type TProperties, type TSchema, Type } from 'typebox';
import { type Changed, type Fields, hookMembers } from '../../../../fields/index.ts';
import { optional, resource } from '../../../../http/index.ts';
import type { Filling } from '../../../../services/index.ts';
import { HookPerson, type PersonRow, presentPerson } from '../../../activity/hooks/index.ts';
import { HookLabel, type HookLabelRow, presentHookLabel } from '../../../planning/labels/index.ts';
import type { Change, IssuableState } from '../definition.ts';

/** In the order in which PostgreSQL stores the members of an object: by length, then by name. Receivers know them in it. */
const inStoredOrder = <P extends TProperties>(properties: P): P =>
  Object.fromEntries(Object.entries(properties).toSorted(([a], [b]) => a.length - b.length || (a < b ? -1 : 1))) as P;

const changed = <S extends TSchema>(schema: S) => optional(Type.Object({ current: schema, previous: schema }));

const Labels = Type.Array(Type.Object(inStoredOrder(HookLabel.properties)));
const People = Type.Array(HookPerson);

/**
 * The changed members, each with its previous and its current value.
 * @param fields of the noun
 * @param more schemas of further changes of it
 */
export const changesOfNoun = (name: string, fields: Fields, more: TProperties): TSchema =>
  resource(
    name,
    inStoredOrder(
      Object.fromEntries(
        Object.entries<TSchema>({
          ...hookMembers(fields),
          state_id: Type.Integer(),
          labels: Labels,
          assignees: People,
          ...more,
        }).map(([member, schema]) => [member, changed(schema)]),
      ),
    ),
  );

interface Pair<T> {
  previous: T;
  current: T;
}
interface Lists {
  labels?: Pair<readonly number[]>;
  assignees?: Pair<readonly number[]>;
  reviewers?: Pair<readonly number[]>;
}

/** Changes as a snapshot has them, with the ids of labels and people. */
export type ChangesRow = Lists & Readonly<Record<string, Changed | Pair<readonly number[]> | undefined>>;

const states = ['opened', 'closed', 'merged', 'locked'];
/** The number of a state in webhooks. */
export const stateId = (state: string): number => states.indexOf(state) + 1;

const isSame = (one: readonly number[], other: readonly number[]) =>
  one.length === other.length && one.every((id) => other.includes(id));

/** The lists that have changed. */
function changedLists(from: IssuableState, to: IssuableState): Lists {
  const lists = {
    labels: { previous: from.label_ids, current: to.label_ids },
    assignees: { previous: from.assignee_ids ?? [], current: to.assignee_ids ?? [] },
    reviewers: { previous: from.reviewer_ids ?? [], current: to.reviewer_ids ?? [] },
  };
  return Object.fromEntries(Object.entries(lists).filter(([, { previous, current }]) => !isSame(previous, current)));
}

/** What has changed, for a snapshot. */
export const changesOf = ({ from, to, also = {} }: Change): ChangesRow => ({
  ...(from.issue_type === to.issue_type ? {} : { type: { previous: from.issue_type, current: to.issue_type } }),
  ...(from.state === to.state ? {} : { state_id: { previous: stateId(from.state), current: stateId(to.state) } }),
  ...also,
  ...changedLists(from, to),
});

/** The ids of all labels and people of changes. */
export const idsIn = ({ labels, assignees, reviewers }: ChangesRow) => {
  const all = (...pairs: (Pair<readonly number[]> | undefined)[]) =>
    pairs.flatMap((pair) => (pair ? [...pair.previous, ...pair.current] : []));
  return { label_ids: all(labels), user_ids: all(assignees, reviewers) };
};

/**
 * @param labels the rows of all changed labels, in their order
 * @param people the rows of all changed people, in their order
 */
export function presentChanges(
  { labels, assignees, reviewers, ...changes }: ChangesRow,
  named: { labels: readonly HookLabelRow[]; people: readonly PersonRow[] },
  services: Filling,
) {
  const each = <Row extends { id: number }, R>(
    rows: readonly Row[],
    pair: Pair<readonly number[]> | undefined,
    present: (row: Row) => R,
  ) => {
    const listed = (ids: readonly number[]) => rows.filter(({ id }) => ids.includes(id)).map(present);
    return pair && { previous: listed(pair.previous), current: listed(pair.current) };
  };
  const lists = {
    labels: each(named.labels, labels, presentHookLabel),
    assignees: each(named.people, assignees, (row) => presentPerson(row, services)),
    reviewers: each(named.people, reviewers, (row) => presentPerson(row, services)),
  };
  return { ...changes, ...lists };
}
