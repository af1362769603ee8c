/** Commits to wikis through the API (docs/reference/wikis.md#changes). */
import type { WikiPlace } from '../../../access/index.ts';
import { isForeignKeyViolation } from '../../../db/index.ts';
import { resolveBranch } from '../../../git/index.ts';
import { badRequest, type Caller, notFound, type Services } from '../../../http/index.ts';
import { writeChanges } from '../repository/commits/actions.ts';
import { changesFor, type FileAction } from '../repository/commits/file_actions.ts';
import { inTurn } from '../repository/commits/turn_actions.ts';
import { moveRefs } from '../repository/moving/actions.ts';
import { nounOf } from './creation_actions.ts';
import { findWiki, repositoryOfWiki, type Wiki } from './git.ts';
import { changeRefusals, wikiRepositories } from './kind.ts';
import type { Version } from './page_git.ts';

/** The caller and the wiki of a change. */
export interface Changing {
  place: WikiPlace;
  caller: Caller;
}

/** A planned commit, computed from the current state. */
interface Planned {
  message: string;
  /** Empty if nothing changes. */
  actions: readonly FileAction[];
}

export const noBranch = 'You can only create or edit files when you are on a branch';

/**
 * Commits a change to a branch of a wiki, queued behind other commits.
 * @param plan is called again if the branch has moved meanwhile; undefined stands for a branch that does not exist yet
 * @returns the new version
 */
export function commitToWiki(
  services: Services,
  { wiki, caller, place }: Changing & { wiki: Wiki },
  branch: string,
  plan: (version: Version | undefined) => Promise<Planned>,
): Promise<Version> {
  const repository = repositoryOfWiki(services, wiki);
  const versionAt = (commit_id: string): Version => ({ repository, wiki_id: wiki.id, commit_id });
  return inTurn(repository, branch, async () => {
    const head = await resolveBranch(repository, branch);
    // The first push may just have set another default branch.
    if (head === undefined && branch !== (await findWiki(services.db, wiki.id))?.default_branch)
      throw badRequest(noBranch);
    const { message, actions } = await plan(head === undefined ? undefined : versionAt(head));
    if (head !== undefined && actions.length === 0) return versionAt(head);
    const parent = head ?? null;
    const person = { name: caller.name, email: caller.commit_email, date: new Date() };
    const changes = await changesFor(repository, parent, actions);
    const people = { author: person, committer: person };
    const written = await writeChanges(repository, { parent, message, changes, ...people, object_format: 'sha1' });
    if (head !== undefined && !written.is_changed) return versionAt(head);
    const updates = [{ ref: `refs/heads/${branch}`, old: parent, new: written.id }];
    const [refused] = await changeRefusals(services, { wiki, caller }, { updates });
    if (refused !== undefined) throw badRequest(refused);
    await moveRefs(services, { kind: wikiRepositories, owner: wiki, user_id: caller.id }, updates).catch(
      (error: unknown) => {
        throw isForeignKeyViolation(error) ? notFound(nounOf(place)) : error;
      },
    );
    return versionAt(written.id);
  });
}
