/** Push events: one for each updated ref, or a single one if a push updates many (docs/reference/events.md). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import {
  countCommits,
  type RefUpdate,
  type Repository,
  readCommit,
  resolveBranch,
  resolveCommit,
} from '../../../git/index.ts';
import { activity } from './actions.ts';

type PushAction = 'created' | 'removed' | 'pushed';
type RefType = 'branch' | 'tag';

/** A row of `push_event_payloads`. */
export interface Push {
  commit_count: number;
  action: PushAction;
  ref_type: RefType;
  commit_from: string | null;
  commit_to: string | null;
  /** Without `refs/heads/` or `refs/tags/`; null for a push of many refs. */
  ref: string | null;
  commit_title: string | null;
  /** The number of updated refs in a push of many. */
  ref_count: number | null;
}

export interface PushedTo {
  repository: Repository;
  default_branch: string;
  /** The application setting `push_event_activities_limit`. */
  limit: number;
}

interface Moved extends RefUpdate {
  action: PushAction;
  ref_type: RefType;
  name: string;
}

function movedRef(update: RefUpdate): Moved | undefined {
  const [, folder, name] = /^refs\/(heads|tags)\/(.+)$/s.exec(update.ref) ?? [];
  if (name === undefined) return undefined;
  const action = update.old === null ? 'created' : update.new === null ? 'removed' : 'pushed';
  return { ...update, action, ref_type: folder === 'heads' ? 'branch' : 'tag', name };
}

/**
 * Describes ref updates for `recordPush`. It runs git, so it is called before the transaction.
 * @param moved the updated refs
 */
export async function describePush(to: PushedTo, moved: readonly RefUpdate[]): Promise<Push[]> {
  const refs = moved.flatMap((update) => movedRef(update) ?? []);
  const kinds = Object.values(Object.groupBy(refs, ({ ref_type, action }) => `${ref_type} ${action}`));
  const pushes = kinds.map((kind = []) =>
    kind.length > to.limit ? [bulkOf(kind)] : Promise.all(kind.map((ref) => singleOf(to, ref))),
  );
  return (await Promise.all(pushes)).flat();
}

function bulkOf(refs: readonly Moved[]): Push {
  const { action, ref_type } = refs[0]!;
  return {
    action,
    ref_type,
    ref_count: refs.length,
    ref: null,
    commit_count: 0,
    commit_from: null,
    commit_to: null,
    commit_title: null,
  };
}

async function singleOf(to: PushedTo, ref: Moved): Promise<Push> {
  const { action, ref_type, name, old, new: commit_to } = ref;
  const commit_count = ref_type === 'tag' ? await taggedCommits(to, ref) : await newCommits(to, ref);
  const commit_title = commit_count > 0 ? await titleOf(to.repository, commit_to!) : null;
  return { commit_count, action, ref_type, commit_from: old, commit_to, ref: name, commit_title, ref_count: null };
}

/** The commit that a tag points to; empty if it points to another object. */
async function taggedCommits({ repository }: PushedTo, ref: Moved): Promise<number> {
  return ref.new !== null && (await resolveCommit(repository, ref.new)) !== undefined ? 1 : 0;
}

/** The number of commits that a branch gained; for a new branch, of commits that the default branch does not have. */
async function newCommits({ repository, default_branch }: PushedTo, ref: Moved): Promise<number> {
  if (ref.new === null) return 0;
  const base = ref.old ?? (ref.name === default_branch ? undefined : await resolveBranch(repository, default_branch));
  if (base === ref.new) return 0;
  // In the usual case, the commit that is read anyway gives the count; otherwise counting starts a process.
  const { parent_ids } = await readCommit(repository, ref.new);
  if (parent_ids.length === (base === undefined ? 0 : 1) && parent_ids[0] === base) return 1;
  return countCommits(repository, { from: [ref.new], not: base === undefined ? [] : [base] });
}

const maximumTitle = 70;

async function titleOf(repository: Repository, id: string): Promise<string | null> {
  const { message } = await readCommit(repository, (await resolveCommit(repository, id))!);
  const line = message.trim().split('\n', 1)[0]!.trim();
  const characters = [...line];
  const title = characters.length > maximumTitle ? `${characters.slice(0, maximumTitle - 3).join('')}...` : line;
  return title || null;
}

/**
 * Records a push, and updates activity times as for any event.
 * @param tx the transaction that writes the other effects of the push
 * @param by the project and the user who pushed; nothing is recorded for a deleted user
 * @param pushes from `describePush`
 */
export async function recordPush(
  tx: Database,
  { project_id, author_id }: { project_id: number; author_id: number | null },
  pushes: readonly Push[],
): Promise<void> {
  if (author_id === null || pushes.length === 0) return;
  const rows = JSON.stringify(pushes);
  // One row for each push, from the same JSON: with a number of rows as a parameter, PostgreSQL would plan the
  // statement anew each time.
  await sql`
    with recorded as (
      insert into events (project_id, author_id, action)
      select ${project_id}, ${author_id}, 'pushed' from jsonb_array_elements(${rows}::jsonb)
      returning id
    ), described as (
      insert into push_event_payloads (event_id, commit_count, action, ref_type, commit_from, commit_to, ref, commit_title, ref_count)
      select event_id, push.commit_count, push.action, ref_type, commit_from, commit_to, ref, commit_title, ref_count
        from (select id as event_id, row_number() over (order by id) as number from recorded) numbered
        join rows from (jsonb_to_recordset(${rows}::jsonb)
             as (commit_count integer, action text, ref_type text, commit_from text, commit_to text, ref text, commit_title text, ref_count integer))
             with ordinality as push(commit_count, action, ref_type, commit_from, commit_to, ref, commit_title, ref_count, number) using (number)
    ), ${activity([project_id], [author_id])}
    select`.execute(tx);
}
