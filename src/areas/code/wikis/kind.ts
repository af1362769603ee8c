/** Wikis as owners of repositories: `<project path>.wiki.git` and `<group path>.wiki.git` (docs/reference/wikis.md#git). */
import {
  basicRefused,
  currentPlan,
  type MaybeCaller,
  projectFor,
  type WikiRights,
  wikiAt,
  wikiRights,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { countObjects, isBranchOrTag, type Push, type RefUpdate, setHead } from '../../../git/index.ts';
import { type Caller, needsPlan, reaches, type Services } from '../../../http/index.ts';
import type { RepositoryServices } from '../../../services/index.ts';
import { largeFileRefusals } from '../push_rules/checks.ts';
import type { GitAccess, GitKind } from '../repository/definition.ts';
import { recordedRefsIn, recordRefsIn } from '../repository/moving/recorded_ref_queries.ts';
import { isPush, MovedGit } from '../repository/owners/git_access.ts';
import { maintainSoon } from '../repository/owners/jobs.ts';
import { oddTreeRefusals } from '../repository/push_checks/checks.ts';
import { pushedBranches, refusal } from '../repository/rules.ts';
import { followPages } from './change_actions.ts';
import { openWiki } from './creation_actions.ts';
import { findWiki, folder, repositoryOfWiki, type Wiki, wikiOf } from './git.ts';

/** The plan required for wikis of groups. */
export const planOfGroups = 'premium';

const address = /^(.+)\.wiki$/;

const mayNotPush = 'You are not allowed to push to this wiki.';

/** @throws ApiError 401 or 403 if the caller can see the project or group, but lacks the right in its wiki */
async function refuse(services: Services, caller: MaybeCaller, rights: WikiRights, pushes: boolean): Promise<void> {
  if (!caller && (pushes || !rights.may_read)) throw basicRefused(services.url);
  // Deploy credentials and job tokens grant the code of a project only.
  if (caller?.deploys || caller?.job) throw refusal(403, 'The authentication mechanism is not supported.');
  if (!rights.may_read) throw refusal(403, 'You are not allowed to read this wiki.');
  if (rights.place.group_id !== null && !reaches(caller?.plan ?? (await currentPlan(services.db)), planOfGroups))
    throw refusal(403, `${needsPlan('The wiki of a group', planOfGroups)}.`);
  if (!pushes) return;
  if (!rights.may_write) throw refusal(403, mayNotPush);
  if (rights.read_only !== undefined) throw refusal(403, rights.read_only);
}

/**
 * The reasons for refusing reference updates in a wiki, independent of the caller; empty if they are accepted.
 * @param quarantine the quarantine of a push, omitted for a change through the API
 */
export async function changeRefusals(
  services: Services,
  { wiki, caller }: { wiki: Wiki; caller: Pick<Caller, 'id'> },
  { updates, quarantine }: { updates: readonly RefUpdate[]; quarantine?: Push['quarantine'] },
): Promise<string[]> {
  if (updates.some((update) => update.new === null && update.ref === `refs/heads/${wiki.default_branch}`))
    return ['The default branch of a wiki cannot be deleted.'];
  const push = { project: wiki, caller, ...(quarantine && { quarantine }) };
  return largeFileRefusals(services, wiki, push, repositoryOfWiki(services, wiki), updates);
}

/** The reasons for refusing a push, by the caller's current rights in the wiki. */
async function refusalsOf(services: Services, caller: Caller, { id }: Wiki, push: Push): Promise<string[]> {
  const wiki = await findWiki(services.db, id);
  const rights = wiki && (await wikiRights(services.db, caller, wiki));
  if (!wiki || !rights) return ['The wiki is gone.'];
  if (rights.read_only !== undefined) return [rights.read_only];
  if (!rights.may_write) return [mayNotPush];
  const refusals = await changeRefusals(services, { wiki, caller }, push);
  return refusals.length > 0 ? refusals : oddTreeRefusals(repositoryOfWiki(services, wiki), push.quarantine);
}

export const wikiRepositories: GitKind<Wiki> = {
  name: 'wiki',
  table: 'wikis',
  column: 'wiki_id',
  folder,
  rows: `select wikis.id, coalesce(projects.full_path, namespaces.full_path)::text || '.wiki' as full_path, wikis.storage, wikis.default_branch,
                not exists (select from recorded_wiki_refs where wiki_id = wikis.id) as empty_repo
           from wikis left join projects on projects.id = project_id left join namespaces on namespaces.id = group_id`,
  async grant(services, { caller, path, service }): Promise<GitAccess | undefined> {
    const [, container] = address.exec(path) ?? [];
    // A project with this path existed before wikis, or took the path of one that has moved away.
    if (container === undefined || (await projectFor(services.db, caller, path))) return undefined;
    const at = await wikiAt(services.db, caller, container);
    if (!at) return undefined;
    await refuse(services, caller, at, isPush(service));
    if (at.has_moved) throw new MovedGit(`${at.place.full_path}.wiki`);
    const owner = isPush(service)
      ? await openWiki(services, wikiRepositories, at.place)
      : await wikiOf(services.db, at.place);
    if (!owner) throw refusal(404, 'A repository for this wiki does not exist yet.');
    return { kind: wikiRepositories, owner, caller, refusals: (push) => refusalsOf(services, caller!, owner, push) };
  },
  find: findWiki,
  objectFormat: async () => 'sha1',
  recordedRefs: async (db, id) => ({ refs: await recordedRefsIn(db, 'recorded_wiki_refs', id), isComplete: true }),
  async follow(services, move) {
    const { owner, update_id, moved } = move;
    if (moved.length === 0) return async () => {};
    const followed = await followPages(services, { ...move, moved: moved.filter(({ ref }) => isBranchOrTag(ref)) });
    return async (tx) => {
      await recordRefsIn(tx, 'recorded_wiki_refs', owner.id, { moved, update_id });
      const default_branch = await chooseBranch(tx, services, owner.id, moved);
      await followed(tx, default_branch);
      await maintainSoon(tx, wikiRepositories, owner.id);
    };
  },
  async measure(services, wiki) {
    const { size_bytes } = await countObjects(repositoryOfWiki(services, wiki));
    await services.db.updateTable('wikis').set({ size_bytes }).where('id', '=', wiki.id).execute();
  },
};

/**
 * Sets the default branch: while it does not exist, the first pushed branch becomes the default branch.
 * @returns the default branch
 */
export async function chooseBranch(
  tx: Database,
  services: RepositoryServices,
  id: number,
  moved: readonly RefUpdate[],
): Promise<string> {
  const pushed = pushedBranches(moved);
  const wiki = await tx
    .selectFrom('wikis')
    .select(['id', 'storage', 'default_branch'])
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  const { default_branch: wanted } = wiki;
  const [first] = pushed;
  if (first === undefined || pushed.includes(wanted)) return wanted;
  if ((await recordedRefsIn(tx, 'recorded_wiki_refs', id)).has(`refs/heads/${wanted}`)) return wanted;
  await tx.updateTable('wikis').set({ default_branch: first }).where('id', '=', id).execute();
  // Before the commit: if it fails, the row remains, and all of this is repeated.
  await setHead(repositoryOfWiki(services, wiki), first);
  return first;
}
