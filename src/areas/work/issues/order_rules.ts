/** The orders of issue lists, including the manual order. */
import { sql } from 'kysely';
import { distance, type Order, type Part, type Sort } from '../issuables/index.ts';

const rest: Pick<Part, 'by'> = { by: [] };
const column = (name: string) => sql.ref(`issues.${name}`);

const byMoment =
  (name: string) =>
  (sort: Sort): Part[] => [{ isIndexedAcross: true, by: [{ column: column(name), sort }] }];

/** By a nullable column, with nulls last. */
const byValue =
  (name: string) =>
  (sort: Sort): Part[] => [
    { where: sql`${column(name)} is not null`, by: [{ column: column(name), sort }] },
    { where: sql`${column(name)} is null`, ...rest },
  ];

/** By the due date of the milestone, then by label priority. */
const byPriority = (sort: Sort): Part[] => {
  const [due, priority] = [column('milestone_due_date'), column('label_priority')];
  return [
    {
      where: sql`${due} is not null`,
      by: [
        { column: due, sort },
        { column: priority, sort, nullsLast: true },
      ],
    },
    { where: sql`${due} is null and ${priority} is not null`, by: [{ column: priority, sort }] },
    { where: sql`${due} is null and ${priority} is null`, ...rest },
  ];
};

const byVotes = (sort: Sort): Part[] => {
  const votes = column('upvotes');
  const some: Part = { where: sql`${votes} > 0`, by: [{ column: votes, sort }] };
  const none: Part = { where: sql`${votes} = 0`, ...rest };
  return sort === 'desc' ? [some, none] : [none, some];
};

const orders = {
  created_at: byMoment('created_at'),
  updated_at: byMoment('updated_at'),
  title: (sort: Sort): Part[] => [{ by: [{ column: sql`lower(${column('title')})`, sort }] }],
  due_date: byValue('due_date'),
  milestone_due: byValue('milestone_due_date'),
  weight: byValue('weight'),
  relative_position: byValue('relative_position'),
  label_priority: byValue('label_priority'),
  priority: byPriority,
  popularity: byVotes,
} satisfies Record<string, (sort: Sort) => Part[]>;

export type OrderName = keyof typeof orders;
/** The values of `order_by`. */
export const orderNames = Object.keys(orders) as OrderName[];

/** The parts of a list in the requested order, first to last. */
export const partsOf = (order_by: OrderName, sort: Sort): readonly Part[] => orders[order_by](sort);

/** The order by `relative_position` in a project. A trigger places new issues at the gap times their id. */
export const orderIn = (project_id: number): Order => ({
  table: 'issues',
  scope: 'project_id',
  scope_id: project_id,
  scopes: 'projects',
  ties: 'desc',
  end: sql`(select (max(id) + 1) * ${sql.lit(distance)}::bigint from issues)`,
});
