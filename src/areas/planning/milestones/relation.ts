/** How milestones are exported and imported (docs/reference/relations_export.md#milestones). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Database, isAmong, nextIids } from '../../../db/index.ts';
import {
  type Arrival,
  choice,
  column,
  columnOr,
  day,
  integer,
  markdown,
  type RecordKind,
  type Relation,
  reference,
  required,
  shown,
  text,
  time,
} from '../../../relations/index.ts';
import { isMilestoneFor } from './queries.ts';
import { type MilestoneFields, milestoneReasons } from './rules.ts';

const milestone: RecordKind = {
  table: 'milestones',
  owner: { project: 'project_id', group: 'group_id' },
  title: 'title',
  numbered: 'milestones',
  members: {
    iid: required('iid', integer(1)),
    title: required('title', text()),
    description: column('description', markdown()),
    state: columnOr('state', choice('active', 'closed'), 'active'),
    start_date: column('start_date', day),
    due_date: column('due_date', day),
    group: shown(sql`milestones.group_id is not null`),
    created_at: required('created_at', time),
    updated_at: required('updated_at', time),
  },
  stays: {},
  refuse: (row) => {
    const [first] = Object.entries(milestoneReasons(row as unknown as MilestoneFields));
    return first && `${first[0]} ${first[1][0]}`;
  },
};

/** A predicate on rows of `milestones`: imported items can have it. */
const isHere = ({ kind, id }: Arrival['owner']): RawBuilder<SqlBool> =>
  kind === 'project'
    ? isMilestoneFor(id)
    : sql`(milestones.group_id = any((select traversal_ids from namespaces where id = ${id})::bigint[]))`;

/** The milestones that imported items can have, by title; milestones of a project win over those of groups. */
async function idsByTitle(
  tx: Database,
  owner: Arrival['owner'],
  titles: readonly string[],
): Promise<Map<string, number>> {
  const rows = await tx
    .selectFrom('milestones')
    .select(['id', 'title'])
    .where(isAmong('title', titles, 'text[]'))
    .where(isHere(owner))
    .orderBy(sql`project_id is not null`)
    .orderBy('id', 'desc')
    .execute();
  return new Map(rows.map(({ id, title }) => [title, id]));
}

/** A milestone that records refer to and that was not imported is created in their project or group. */
async function findMilestones(
  tx: Database,
  { owner }: Arrival,
  wanted: readonly Record<string, unknown>[],
): Promise<(number | null)[]> {
  const titles = wanted.map(({ title }) => (typeof title === 'string' ? title : ''));
  const known = await idsByTitle(tx, owner, titles);
  const missing = [...new Set(titles)].filter((title) => !known.has(title) && isFit(title));
  if (missing.length > 0) {
    const isProject = owner.kind === 'project';
    const numbered = isProject ? { project_id: owner.id } : { namespace_id: owner.id };
    const first = await nextIids(tx, numbered, 'milestones', missing.length);
    const of = isProject ? { project_id: owner.id } : { group_id: owner.id };
    const rows = missing.map((title, index) => ({ ...of, title, iid: first + index }));
    const added = await tx.insertInto('milestones').values(rows).returning(['id', 'title']).execute();
    for (const { id, title } of added) known.set(title, id);
  }
  return titles.map((title) => known.get(title) ?? null);
}

const isFit = (title: string): boolean =>
  Object.keys(milestoneReasons({ title, description: null, start_date: null, due_date: null })).length === 0;

/** A field with a milestone. */
export const milestoneReference = reference('milestone_id', milestone, findMilestones);

/** The milestones of a project or group. */
export const milestones: Relation = { name: 'milestones', kind: milestone, is_batched: true };
