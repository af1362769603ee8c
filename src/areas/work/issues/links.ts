/** Linking issues with each other: rows and notes. The endpoints are an area of their own, `issue_links`. */
import { sql } from 'kysely';
import { isVisibleIssue, levels, type Project, projectLevel, projectState } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Caller } from '../../../http/index.ts';
import { addSystemNote } from '../../conversation/notes/index.ts';
import { referenceTo } from './reference_rules.ts';

/** An issue as the notes on others name it. */
export interface LinkedIssue {
  id: number;
  iid: number;
  project_id: number;
  /** Of its project. */
  full_path: string;
}

/** One that the caller may read, with his level in its project. */
export interface VisibleIssue extends LinkedIssue {
  access_level: number;
  read_only: boolean;
}

/** Those of some issues that the caller may read, in the order of their ids. */
export async function visibleIssues(db: Database, caller: Caller, ids: readonly number[]): Promise<VisibleIssue[]> {
  const { rows } = await sql<VisibleIssue>`
    select issues.id, issues.iid, issues.project_id, projects.full_path::text as full_path, ${projectLevel(caller)} as access_level,
           ${projectState.read_only} as read_only
      from issues join projects on projects.id = issues.project_id
     where issues.id = any(${ids}::bigint[]) and ${isVisibleIssue(caller)} order by issues.id`.execute(db);
  return rows;
}

/** Whether the caller may link others to an issue: in both projects he needs the same. */
export const isLinkable = ({ access_level, read_only }: Pick<Project, 'access_level' | 'read_only'>): boolean =>
  access_level >= levels.reporter && !read_only;

export type LinkType = 'relates_to' | 'blocks' | 'is_blocked_by';

const words: Record<LinkType, string> = {
  relates_to: 'related to',
  blocks: 'blocking',
  is_blocked_by: 'blocked by',
};
const reversed = { relates_to: 'relates_to', blocks: 'is_blocked_by', is_blocked_by: 'blocks' } as const;

/** Notes on both issues what is said of the other one. */
async function noteOnBoth(
  tx: Database,
  author_id: number,
  [one, other]: [LinkedIssue, LinkedIssue],
  body: (on: 0 | 1) => string,
) {
  const name = (on: LinkedIssue, of: LinkedIssue) => referenceTo(on.project_id, of);
  const about = (issue: LinkedIssue) => ({ refers_to: { issue_id: issue.id } });
  await addSystemNote(tx, { issue_id: one.id }, author_id, `${body(0)} ${name(one, other)}`, about(other));
  await addSystemNote(tx, { issue_id: other.id }, author_id, `${body(1)} ${name(other, one)}`, about(one));
}

/**
 * Links two issues, with a note on each.
 * @param type what the first is to the second
 * @returns the id of the link; undefined where there is one already, whatever its kind
 */
export async function addLink(
  tx: Database,
  author_id: number,
  [source, target]: [LinkedIssue, LinkedIssue],
  type: LinkType,
): Promise<number | undefined> {
  // Who is blocked is the target, whoever says so.
  const [from, to] = type === 'is_blocked_by' ? [target, source] : [source, target];
  const added = await tx
    .insertInto('issue_links')
    .values({ source_id: from.id, target_id: to.id, link_type: type === 'relates_to' ? 'relates_to' : 'blocks' })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (added)
    await noteOnBoth(tx, author_id, [source, target], (on) => `marked this issue as ${words[on === 0 ? type : reversed[type]]}`);
  return added?.id;
}

/**
 * Ends the link between two issues, with a note on each.
 * @returns whether there was one
 */
export async function removeLink(tx: Database, author_id: number, pair: [LinkedIssue, LinkedIssue]): Promise<boolean> {
  const ids = pair.map(({ id }) => id);
  const removed = await tx
    .deleteFrom('issue_links')
    .where('source_id', 'in', ids)
    .where('target_id', 'in', ids)
    .returning('id')
    .executeTakeFirst();
  if (removed) await noteOnBoth(tx, author_id, pair, () => 'removed the relation with');
  return removed !== undefined;
}
