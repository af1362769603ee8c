/** Webhook events for pushes (docs/reference/hooks.md#events). */
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Database, DB } from '../../../db/index.ts';
import { isAbout } from '../../../foundation/wildcards.ts';
import { type RefUpdate, repositoryOf, resolveBranch } from '../../../git/index.ts';
import type { PushFollower } from '../../../services/index.ts';
import { type Sample, sampled } from '../../activity/hooks/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { type AskingHook, addHookEvents, hooksAsking, newsOf, type Telling } from '../../instance/hook_events/index.ts';
import { protectsProject } from '../protected_branches/queries.ts';
import { pushEvent, repositoryUpdateEvent, type UpdateNews } from './hook_present.ts';

interface Pusher {
  project_id: number;
  user_id: number | null;
}

/** The news of branches or tags that were pushed. */
const pushNews = ({ project_id, user_id }: Pusher, moved: readonly (RefUpdate & { ref_protected: boolean })[]) =>
  newsOf(
    {
      project_id: sql<number>`projects.id`,
      user_id: sql<number | null>`users.id`,
      ref: sql<string>`moved.ref`,
      before: sql<string | null>`moved.old`,
      after: sql<string | null>`moved.new`,
      ref_protected: sql<boolean>`moved.ref_protected`,
    },
    sql`
      from jsonb_to_recordset(${JSON.stringify(moved)}::jsonb) as moved(ref text, old text, new text, ref_protected boolean)
      join projects on projects.id = ${project_id} left join users on users.id = ${user_id}::bigint`,
  );

const kinds = { push_events: 'refs/heads/', tag_push_events: 'refs/tags/' } as const;
type Kind = keyof typeof kinds;

/** More names than this are not compared. */
const namesIn = async <T extends 'protected_branches' | 'protected_tags'>(
  rows: SelectQueryBuilder<DB, T, object>,
): Promise<string[]> => {
  const named = await rows.select(sql<string>`name`.as('name')).limit(1000).execute();
  return named.map(({ name }) => name);
};

/** Names and wildcards of the protected branches or tags. */
const protectedNames = async (tx: Database, project_id: number, kind: Kind): Promise<string[]> => {
  if (kind === 'tag_push_events') return namesIn(tx.selectFrom('protected_tags').where('project_id', '=', project_id));
  return namesIn(tx.selectFrom('protected_branches').where(protectsProject(sql`${project_id}::bigint`)));
};

/** The most references listed in an event for a whole push. */
const maximumListed = 1000;

/**
 * Adds an event for all branches and tags that a push has moved, for system hooks that subscribe to it.
 * @param tx the transaction of its other effects
 * @param rowsOf the news with the given changes, which are JSON
 */
export async function tellOfUpdate<Row extends UpdateNews>(
  tx: Database,
  asking: readonly AskingHook[],
  moved: readonly RefUpdate[],
  event: Telling<Row>,
  rowsOf: (changes: RawBuilder<UpdateNews['changes']>) => RawBuilder<Row>,
): Promise<void> {
  const listed = moved
    .filter(({ ref }) => Object.values(kinds).some((folder) => ref.startsWith(folder)))
    .slice(0, maximumListed);
  if (listed.length === 0) return;
  const changes = listed.map(({ ref, old, new: after }) => {
    const none = '0'.repeat((old ?? after)!.length);
    return { before: old ?? none, after: after ?? none, ref };
  });
  const forServer = asking.filter(({ is_system }) => is_system);
  const rows = rowsOf(sql`${JSON.stringify(changes)}::json`);
  await addHookEvents(tx, forServer, { event, trigger: 'repository_update_events', rows });
}

/**
 * Adds the events for a push: one for each branch and tag, unless there are more than `push_event_hooks_limit` of a kind, and one for the whole push for system hooks.
 * @param tx the transaction of its other effects
 */
async function tellOfPush(tx: Database, pusher: Pusher, moved: readonly RefUpdate[]): Promise<void> {
  if (moved.length === 0) return;
  const place = { project_id: pusher.project_id };
  const asking = await hooksAsking(tx, place, ['push_events', 'tag_push_events', 'repository_update_events']);
  if (asking.length === 0) return;
  const { push_event_hooks_limit: most } = await settingsOf(tx);
  for (const kind of Object.keys(kinds) as Kind[]) {
    const refs = moved.filter(({ ref }) => ref.startsWith(kinds[kind]));
    if (refs.length === 0 || refs.length > most) continue;
    const names = await protectedNames(tx, pusher.project_id, kind);
    const updates = refs.map((update) => {
      const name = update.ref.slice(kinds[kind].length);
      return { ...update, ref_protected: names.some((pattern) => isAbout(pattern, name)) };
    });
    await addHookEvents(tx, asking, { event: pushEvent, trigger: kind, rows: pushNews(pusher, updates) });
  }
  const { project_id, user_id } = pusher;
  await tellOfUpdate(tx, asking, moved, repositoryUpdateEvent, (changes) =>
    newsOf(
      { project_id: sql<number>`projects.id`, user_id: sql<number | null>`users.id`, changes },
      sql`from projects left join users on users.id = ${user_id}::bigint where projects.id = ${project_id}`,
    ),
  );
}

/** Adds webhook events for pushes. */
export const hookFollower: PushFollower = {
  follow:
    async (_services, { owner, user_id, moved }) =>
    (tx) =>
      tellOfPush(tx, { project_id: owner.id, user_id }, moved),
};

/** The newest commits of the default branch, as if they had been pushed. */
export const samplePush: Sample = async ({ db, storages }, { project_id, user_id }) => {
  const project = await db
    .selectFrom('projects')
    .select(['id', 'storage', 'default_branch'])
    .where('id', '=', project_id)
    .where('empty_repo', '=', false)
    .executeTakeFirst();
  const head = project && (await resolveBranch(repositoryOf({ storages }, project), project.default_branch));
  if (head === undefined) return undefined;
  const update = { ref: `refs/heads/${project!.default_branch}`, old: null, new: head, ref_protected: true };
  return sampled(pushEvent, pushNews({ project_id, user_id }, [update]));
};

/** The last tag by name, as if it had been pushed. */
export const sampleTag: Sample = async ({ db }, { project_id, user_id }) => {
  const tagged = await db
    .selectFrom('recorded_refs')
    .select(['ref', 'target'])
    .where('project_id', '=', project_id)
    .where('ref', 'like', 'refs/tags/%')
    .orderBy('ref', 'desc')
    .limit(1)
    .executeTakeFirst();
  const update = tagged && { ref: tagged.ref, old: null, new: tagged.target, ref_protected: false };
  return update && sampled(pushEvent, pushNews({ project_id, user_id }, [update]));
};
