/** How labels are exported and imported (docs/reference/relations_export.md#labels). */
import { sql } from 'kysely';
import type { IssuableKind } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  type Arrival,
  column,
  columnOr,
  flag,
  integer,
  markdown,
  parts,
  type RecordKind,
  type Relation,
  reference,
  required,
  shown,
  spelled,
  time,
} from '../../../relations/index.ts';
import { impliedColor } from './actions.ts';
import { colorFrom, colorReasons } from './color_rules.ts';
import { labelParent, labelsTitled } from './queries.ts';
import { descriptionReasons, titleReasons } from './rules.ts';

/** The priority of a label in its own project. */
const labelPriority: RecordKind = {
  table: 'label_priorities',
  is_link: true,
  distinct: ['project_id'],
  members: {
    priority: required('priority', integer(0)),
    created_at: shown(sql`null`),
    updated_at: shown(sql`null`),
  },
  stays: { project_id: 'the project of the label' },
  derives: {
    columns: { project_id: 'bigint' },
    derive: (rows, { owner }) => {
      for (const { row } of rows) row.project_id = owner.id;
    },
  },
};

/** A label as referred to by other records, without priorities: those of a group label belong to other projects. */
const label: RecordKind = {
  table: 'labels',
  owner: { project: 'project_id', group: 'group_id' },
  title: 'title',
  members: {
    title: required(
      'title',
      spelled(
        (title) => titleReasons(title.trim()),
        (title) => title.trim(),
      ),
    ),
    color: required(
      'color',
      spelled(colorReasons, (color) => colorFrom(color)!),
    ),
    description: column('description', markdown(descriptionReasons)),
    template: shown(sql`false`),
    type: shown(sql`case when labels.project_id is null then 'GroupLabel' else 'ProjectLabel' end`),
    archived: columnOr('archived', flag, false),
    created_at: required('created_at', time),
    updated_at: required('updated_at', time),
  },
  stays: {},
};

/** The labels with these titles; missing ones are created in the project or group itself. */
async function findLabels(
  tx: Database,
  { owner }: Arrival,
  wanted: readonly Record<string, unknown>[],
): Promise<(number | null)[]> {
  const parent = labelParent(owner);
  const titleOf = ({ title }: Record<string, unknown>) => (typeof title === 'string' ? title.trim() : '');
  const valid = wanted.filter((each) => titleReasons(titleOf(each)).length === 0);
  const titles = [...new Set(valid.map(titleOf))];
  const known = new Set((await labelsTitled(tx, parent, titles)).map(({ title }) => title));
  const missing = new Map(valid.filter((each) => !known.has(titleOf(each))).map((each) => [titleOf(each), each]));
  if (missing.size > 0) {
    const rows = [...missing].map(([title, { color, description }]) => ({
      ...parent,
      title,
      color: (typeof color === 'string' && colorFrom(color)) || impliedColor,
      description: typeof description === 'string' && descriptionReasons(description).length === 0 ? description : null,
    }));
    await tx
      .insertInto('labels')
      .values(rows)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  const ids = new Map((await labelsTitled(tx, parent, titles)).map(({ id, title }) => [title, id]));
  return wanted.map((each) => ids.get(titleOf(each)) ?? null);
}

/** A field with a label, which may have been deleted. */
export const formerLabel = reference('label_id', label, findLabels);

/** The labels of a project. */
export const projectLabels: Relation = {
  name: 'labels',
  kind: { ...label, members: { ...label.members, priorities: parts(labelPriority, 'label_id') } },
  is_batched: true,
};

/** The labels of a group. */
export const groupLabels: Relation = { name: 'labels', kind: label, is_batched: true };

/** A label of an item. */
export const borneLabel = (table: IssuableKind['labels'], target_type: string): RecordKind => ({
  table,
  is_link: true,
  distinct: ['label_id'],
  members: { target_type: shown(sql`${sql.lit(target_type)}`), label: { ...formerLabel, is_required: true } },
  stays: {},
});
