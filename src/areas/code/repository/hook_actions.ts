/** Webhook events for pushes (docs/reference/hooks.md#events). */
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Database, DB } from '../../../db/index.ts';
import { type RefUpdate, repositoryOf, resolveBranch } from '../../../git/index.ts';
import type { PushFollower } from '../../../services/index.ts';
import { hole, projectFacts, repositoryFacts, type Sample } from '../../activity/hooks/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { type AskingHook, addHookEvent, hooksAsking } from '../../instance/hook_events/index.ts';
import { protectsProject } from '../protected_branches/queries.ts';
import { isAbout } from '../protected_branches/rules.ts';

interface Pusher {
  project_id: number;
  user_id: number | null;
}

/** The members of a body about the pusher, from a row of `users`. */
const pusherFacts = sql`
  'user_id', users.id, 'user_name', users.name, 'user_username', users.username, 'user_email', nullif(users.public_email, ''),
  'user_avatar', ${hole('avatar', sql`json_build_object('id', users.id, 'avatar', users.avatar)`)}`;

const placeFacts = ({ project_id }: Pusher) => sql`'project_id', projects.id, 'project', ${projectFacts(project_id)}`;

const fromPusher = ({ project_id, user_id }: Pusher) =>
  sql`from projects left join users on users.id = ${user_id}::bigint where projects.id = ${project_id}`;

const pushFacts = (
  pusher: Pusher,
  { ref, old, new: after }: RefUpdate,
  is_protected: boolean,
  lists: boolean,
): RawBuilder<unknown> => sql`
  (select ${hole(
    'push',
    sql`json_build_object(
     'place', json_build_object('id', projects.id, 'full_path', projects.full_path, 'default_branch', projects.default_branch),
     'ref', ${ref}::text, 'before', ${old}::text, 'after', ${after}::text, 'lists', ${lists}::boolean,
     'also', json_build_object('ref_protected', ${is_protected}::boolean, ${pusherFacts}, ${placeFacts(pusher)}, 'repository', ${repositoryFacts(pusher.project_id)}))`,
  )}
     ${fromPusher(pusher)})`;

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
 * @param whose the members of the body about the owner of the repository, and the rows that they and the pusher, in `users`, are from
 */
export async function tellOfUpdate(
  tx: Database,
  asking: readonly AskingHook[],
  moved: readonly RefUpdate[],
  { members, from }: { members: RawBuilder<unknown>; from: RawBuilder<unknown> },
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
  await addHookEvent(tx, forServer, {
    trigger: 'repository_update_events',
    facts: sql`
      (select json_build_object('event_name', 'repository_update', ${pusherFacts}, ${members}, 'changes', ${JSON.stringify(changes)}::json,
                                'refs', ${JSON.stringify(listed.map(({ ref }) => ref))}::json) ${from})`,
  });
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
    for (const update of refs) await addPush(tx, { pusher, asking, kind, names }, update);
  }
  await tellOfUpdate(tx, asking, moved, { members: placeFacts(pusher), from: fromPusher(pusher) });
}

interface Telling {
  pusher: Pusher;
  asking: readonly AskingHook[];
  kind: Kind;
  /** The names of protected branches or tags. */
  names: readonly string[];
}

/** System hooks get no commits. */
async function addPush(tx: Database, { pusher, asking, kind, names }: Telling, update: RefUpdate): Promise<void> {
  const name = update.ref.slice(kinds[kind].length);
  const is_protected = names.some((pattern) => isAbout(pattern, name));
  for (const is_system of [false, true]) {
    const facts = pushFacts(pusher, update, is_protected, !is_system);
    await addHookEvent(
      tx,
      asking.filter((hook) => hook.is_system === is_system),
      { trigger: kind, facts },
    );
  }
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
  const update = { ref: `refs/heads/${project!.default_branch}`, old: null, new: head };
  return pushFacts({ project_id, user_id }, update, true, true);
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
  return tagged && pushFacts({ project_id, user_id }, { ref: tagged.ref, old: null, new: tagged.target }, false, true);
};
