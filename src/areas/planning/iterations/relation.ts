/**
 * How iterations and their cadences are exported and imported (docs/reference/relations_export.md#iterations_cadences).
 */
import { sql } from 'kysely';
import { type Database, raiseIid } from '../../../db/index.ts';
import {
  type Arrival,
  type ArrivingRow,
  column,
  columnOr,
  day,
  flag,
  integer,
  markdown,
  parts,
  type RecordKind,
  type Relation,
  reference,
  required,
  shown,
  text,
  time,
} from '../../../relations/index.ts';
import { isIterationFor } from './queries.ts';
import { type CadenceFields, cadenceReasons, wordReasons } from './rules.ts';

const firstOf = (reasons: Record<string, string[]>): string | undefined => {
  const [first] = Object.entries(reasons);
  return first && `${first[0]} ${first[1][0]}`;
};

const cadenceMembers: RecordKind['members'] = {
  title: required('title', text()),
  description: column('description', markdown()),
  start_date: column('start_date', day),
  active: columnOr('active', flag, true),
  automatic: columnOr('automatic', flag, false),
  duration_in_weeks: column('duration_in_weeks', integer(1, 4)),
  iterations_in_advance: column('iterations_in_advance', integer(1, 10)),
  roll_over: columnOr('roll_over', flag, false),
  sequence: shown(sql`null`),
  created_at: required('created_at', time),
  updated_at: required('updated_at', time),
};

const cadence: RecordKind = {
  table: 'iteration_cadences',
  owner: { group: 'group_id' },
  title: 'title',
  members: cadenceMembers,
  stays: {},
  refuse: (row) => firstOf(cadenceReasons(row as unknown as CadenceFields)),
};

const iterationMembers: RecordKind['members'] = {
  iid: required('iid', integer(1)),
  sequence: column('sequence', integer(1)),
  title: column('title', text()),
  description: column('description', markdown()),
  start_date: required('start_date', day),
  due_date: required('due_date', day),
  state: column('state', integer(1, 3)),
  created_at: required('created_at', time),
  updated_at: required('updated_at', time),
};

/** @returns iterations that start before another one of their cadence has ended */
function overlapping(rows: readonly ArrivingRow[]): Map<ArrivingRow, string> {
  const found = new Map<ArrivingRow, string>();
  const ends = new Map<unknown, string>();
  const byStart = rows.toSorted((one, other) =>
    (one.row.start_date as string) < (other.row.start_date as string) ? -1 : 1,
  );
  for (const each of byStart) {
    const { cadence_id, start_date, due_date } = each.row as Record<string, string>;
    if (start_date! <= (ends.get(cadence_id) ?? '')) found.set(each, 'overlaps with another iteration of its cadence');
    else ends.set(cadence_id, due_date!);
  }
  return found;
}

/**
 * Iterations in their cadence, which numbers them; other servers do not export numbers and states, which follow from
 * the dates.
 */
const iteration: RecordKind = {
  table: 'iterations',
  title: 'iid',
  members: iterationMembers,
  stays: { group_id: 'the group of the cadence' },
  distinct: ['iid'],
  known_by: ['group_id', 'iid'],
  refuse: (row) =>
    (row.due_date as string) < (row.start_date as string)
      ? 'due_date must be after start_date'
      : firstOf(wordReasons(row as { title: string | null; description: string | null })),
  derives: {
    columns: { group_id: 'bigint' },
    derive: (rows, { owner }) => {
      const today = new Date().toISOString().slice(0, 10);
      for (const [index, { row }] of rows.entries()) {
        row.group_id = owner.id;
        row.sequence ??= index + 1;
        row.state ??= (row.due_date as string) < today ? 3 : (row.start_date as string) <= today ? 2 : 1;
      }
      return overlapping(rows);
    },
  },
  follows: (tx, { owner }, rows) =>
    raiseIid(tx, { namespace_id: owner.id }, 'iterations', Math.max(0, ...rows.map(({ row }) => row.iid as number))),
};

/** A predicate on rows of `iterations`: imported items can be in it. */
const isHere = ({ kind, id }: Arrival['owner']) =>
  kind === 'project'
    ? isIterationFor(id)
    : sql`(iterations.group_id = any((select traversal_ids from namespaces where id = ${id})::bigint[]))`;

/** The iteration of the ancestor groups with the same dates in a cadence of the same title. */
async function findIterations(
  tx: Database,
  { owner }: Arrival,
  wanted: readonly Record<string, unknown>[],
): Promise<(number | null)[]> {
  const asked = wanted.map((each, index) => {
    const title = (each.iterations_cadence as { title?: unknown } | null)?.title;
    return {
      index,
      title: String(title ?? ''),
      start_date: String(each.start_date ?? ''),
      due_date: String(each.due_date ?? ''),
    };
  });
  const { rows } = await sql<{ index: number; id: number }>`
    select index, min(iterations.id) as id
      from json_to_recordset(${JSON.stringify(asked)}::json) asked(index integer, title text, start_date text, due_date text)
           join iterations on iterations.start_date::text = asked.start_date and iterations.due_date::text = asked.due_date and ${isHere(owner)}
           join iteration_cadences on iteration_cadences.id = iterations.cadence_id and iteration_cadences.title = asked.title
     group by index`.execute(tx);
  const ids = new Map(rows.map(({ index, id }) => [index, id]));
  return wanted.map((_, index) => ids.get(index) ?? null);
}

const namedIteration: RecordKind = {
  ...iteration,
  members: {
    ...iterationMembers,
    iterations_cadence: reference('cadence_id', cadence, async (_tx, _arrival, wanted) => wanted.map(() => null)),
  },
};

/** A field with an iteration. */
export const iterationReference = reference('iteration_id', namedIteration, findIterations);

/** The cadences of a group with their iterations. */
export const iterationCadences: Relation = {
  name: 'iterations_cadences',
  kind: { ...cadence, members: { ...cadenceMembers, iterations: parts(iteration, 'cadence_id') } },
  plan: 'premium',
};
