/** Sort orders shared by lists of issues and of merge requests. */
import { sql } from 'kysely';
import type { IssuableKind } from '../../../access/index.ts';
import type { Part, Sort } from '../../../lists/index.ts';

const rest: Pick<Part, 'by'> = { by: [] };

/** The parts of a list in a sort order, first to last. */
export type PartsOf = (sort: Sort) => Part[];

/** Sorted by a time that every row has. */
const byMoment =
  ({ table }: IssuableKind, name: string): PartsOf =>
  (sort) => [{ isIndexedAcross: true, column: name, by: [{ column: sql.ref(`${table}.${name}`), sort }] }];

/** Sorted by a nullable column, with nulls last. */
export const byValue =
  ({ table }: IssuableKind, name: string): PartsOf =>
  (sort) => {
    const column = sql.ref(`${table}.${name}`);
    return [
      { where: sql`${column} is not null`, column: name, by: [{ column, sort }] },
      { where: sql`${column} is null`, ...rest },
    ];
  };

/** Sorted by the due date of the milestone, then by label priority. */
const byPriority =
  ({ table }: IssuableKind): PartsOf =>
  (sort) => {
    const [due, priority] = [sql.ref(`${table}.milestone_due_date`), sql.ref(`${table}.label_priority`)];
    return [
      {
        where: sql`${due} is not null`,
        column: 'milestone_due_date',
        by: [
          { column: due, sort },
          { column: priority, sort, nulls: 'last' },
        ],
      },
      {
        where: sql`${due} is null and ${priority} is not null`,
        column: 'label_priority',
        by: [{ column: priority, sort }],
      },
      { where: sql`${due} is null and ${priority} is null`, ...rest },
    ];
  };

const byVotes =
  ({ table }: IssuableKind): PartsOf =>
  (sort) => {
    const votes = sql.ref(`${table}.upvotes`);
    const some: Part = { where: sql`${votes} > 0`, by: [{ column: votes, sort }] };
    const none: Part = { where: sql`${votes} = 0`, ...rest };
    return sort === 'desc' ? [some, none] : [none, some];
  };

/** The sort orders of a kind, by the values of `order_by`. */
export const sharedOrders = (kind: IssuableKind) => ({
  created_at: byMoment(kind, 'created_at'),
  updated_at: byMoment(kind, 'updated_at'),
  title: (sort: Sort): Part[] => [{ by: [{ column: sql`lower(${sql.ref(`${kind.table}.title`)})`, sort }] }],
  milestone_due: byValue(kind, 'milestone_due_date'),
  label_priority: byValue(kind, 'label_priority'),
  priority: byPriority(kind),
  popularity: byVotes(kind),
});
