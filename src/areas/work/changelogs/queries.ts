/** Queries for the authors of commits in a changelog, and for the merge requests that merged them. */
import { sql } from 'kysely';
import {
  commitKind,
  isVisibleGroup,
  type MaybeCaller,
  mayUse,
  mergeRequestKind,
  type Project,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Chosen } from './git.ts';
import type { Entry } from './section_rules.ts';

interface Author {
  email: string;
  username: string;
  is_outside: boolean;
}

/**
 * The authors with an account. Members of the project are omitted, unless they belong to one of the groups.
 * @param groups full paths; groups that the caller cannot see are ignored
 */
async function authorsOf(
  db: Database,
  caller: MaybeCaller,
  project: Project,
  { emails, groups }: { emails: readonly string[]; groups: readonly string[] },
): Promise<Map<string, Author>> {
  const { rows } = await sql<Author>`
    select emails.email::text as email, users.username::text as username,
           not exists (select from project_authorizations member where member.user_id = users.id and member.project_id = ${project.id})
           or exists (select from group_authorizations member join namespaces on namespaces.id = member.group_id
                       where member.user_id = users.id and namespaces.full_path = any(${groups}::citext[]) and ${isVisibleGroup(caller)}) as is_outside
      from emails join users on users.id = emails.user_id
     where emails.email = any(${emails}::citext[]) and emails.confirmed_at is not null`.execute(db);
  return new Map(rows.map((row) => [row.email.toLowerCase(), row]));
}

/** The number of the project's merged merge request that contained a commit, by commit id. */
async function mergeRequestsOf(
  db: Database,
  project_id: number,
  shas: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await sql<{ sha: string; iid: number }>`
    select distinct on (sha) sha, iid
      from (select brought.sha, merge_requests.iid
              from merge_request_commits brought join merge_requests on merge_requests.id = merge_request_id
             where brought.sha = any(${shas}::text[]) and merge_requests.project_id = ${project_id} and merge_requests.state = 'merged'
            union all
            select merge_commit_sha, iid from merge_requests where project_id = ${project_id} and merge_commit_sha = any(${shas}::text[])
            union all
            select squash_commit_sha, iid from merge_requests where project_id = ${project_id} and squash_commit_sha = any(${shas}::text[])) found
     order by sha, iid`.execute(db);
  return new Map(rows.map(({ sha, iid }) => [sha, iid]));
}

/** Converts commits to changelog entries, in the same order. */
export async function entriesOf(
  { db, url }: { db: Database; url: string },
  caller: MaybeCaller,
  project: Project,
  { chosen, groups }: { chosen: readonly Chosen[]; groups: readonly string[] },
): Promise<Entry[]> {
  const emails = [...new Set(chosen.map(({ commit }) => commit.author_email.toLowerCase()))];
  const [authors, merge_requests] = await Promise.all([
    authorsOf(db, caller, project, { emails, groups }),
    mayUse(project, 'merge_requests')
      ? mergeRequestsOf(
          db,
          project.id,
          chosen.map(({ commit }) => commit.id),
        )
      : new Map<string, number>(),
  ]);
  return chosen.map(({ commit, category }) => {
    const author = authors.get(commit.author_email.toLowerCase());
    const iid = merge_requests.get(commit.id);
    return {
      title: commit.title,
      category,
      commit: { reference: url + commitKind.page(project.full_path, commit.id), trailers: commit.trailers },
      ...(author ? { author: { reference: `@${author.username}`, credit: author.is_outside } } : {}),
      ...(iid === undefined
        ? {}
        : { merge_request: { reference: url + mergeRequestKind.page(project.full_path, iid) } }),
    };
  });
}
