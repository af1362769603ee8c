/** The wikis of projects and groups that have a repository. */
import type { Owner as WikiOwner } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Repository, repositoryOf, resolveBranch, resolveCommit } from '../../../git/index.ts';
import type { Owner, RepositoryServices } from '../../../services/index.ts';
import type { Version } from './page_git.ts';

/** A wiki with a repository. */
export interface Wiki extends Owner, WikiOwner {
  default_branch: string;
}

const wikis = (db: Database) =>
  db.selectFrom('wikis').select(['id', 'project_id', 'group_id', 'storage', 'default_branch']);

export const findWiki = (db: Database, id: number): Promise<Wiki | undefined> =>
  wikis(db).where('id', '=', id).executeTakeFirst();

/** The wiki of a project or group; undefined before its first page. */
export const wikiOf = (db: Database, { project_id, group_id }: WikiOwner): Promise<Wiki | undefined> =>
  wikis(db)
    .where(project_id === null ? 'group_id' : 'project_id', '=', project_id ?? group_id)
    .executeTakeFirst();

/** The folder of a storage that contains the repositories of wikis. */
export const folder = '@wikis';

export const repositoryOfWiki = (services: Pick<RepositoryServices, 'storages'>, { id, storage }: Owner): Repository =>
  repositoryOf(services, { id, storage, folder });

const isCommitId = (text: string) => /^[0-9a-f]{4,64}$/i.test(text);

/**
 * The commit for a request.
 * @param id of a commit; defaults to the head of the default branch
 * @returns undefined if the commit does not exist, or the wiki has no page yet
 */
export async function versionOf(
  services: Pick<RepositoryServices, 'storages'>,
  wiki: Wiki,
  id?: string,
): Promise<Version | undefined> {
  const repository = repositoryOfWiki(services, wiki);
  const named = async (text: string) => (isCommitId(text) ? resolveCommit(repository, text) : undefined);
  const commit_id = await (id === undefined ? resolveBranch(repository, wiki.default_branch) : named(id));
  return commit_id === undefined ? undefined : { repository, wiki_id: wiki.id, commit_id };
}

/** As `versionOf`, for the wiki of a project or group; undefined before its first page. */
export async function versionIn(
  services: Pick<RepositoryServices, 'storages'> & { db: Database },
  place: WikiOwner,
  id?: string,
): Promise<Version | undefined> {
  const wiki = await wikiOf(services.db, place);
  return wiki && versionOf(services, wiki, id);
}
