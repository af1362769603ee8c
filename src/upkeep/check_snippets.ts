/** Compares the repositories of snippets with their rows, which say where the only branch is and which files it has. */
import { sql } from 'kysely';
import type { Database } from '../db/index.ts';
import { fileSizes, headBranch, objectHeader, type Repository, resolveBranch, setHead } from '../git/index.ts';
import { checkFiles, isMoving } from './check_repository.ts';
import type { CheckOptions, Finding } from './finding.ts';
import { bringBack } from './recorded_refs.ts';
import type { RepositoryRow } from './repositories.ts';

export type SnippetToCheck = RepositoryRow & { commit_id: string; paths: string[] };

const snippetRows = (db: Database) =>
  db
    .selectFrom('snippets')
    .leftJoin('projects', 'projects.id', 'snippets.project_id')
    .select(['snippets.id', 'snippets.storage', 'branch as default_branch', 'commit_id', 'paths'])
    .select(sql<string>`concat_ws('/', projects.full_path::text, 'snippets', snippets.id)`.as('full_path'));

/** All snippets with what is checked of them. */
export const snippetsToCheck = async (db: Database): Promise<SnippetToCheck[]> =>
  (await snippetRows(db).orderBy('snippets.id').execute()).map((row) => ({ kind: 'snippet', empty_repo: false, ...row }));

/** @param row as it was when the check began */
export function checkSnippet(options: CheckOptions, row: SnippetToCheck): Promise<Finding[]> {
  return checkFiles(options, row, async (repository, isDamaged) => {
    if ((await differences(row, repository, isDamaged)).length === 0) return [];
    // A push may be between the repository and the database: only what is found twice is reported.
    const now = await snippetRows(options.db).where('snippets.id', '=', row.id).executeTakeFirst();
    return !now || (await isMoving(options, row)) ? [] : differences({ ...row, ...now }, repository, isDamaged);
  });
}

async function differences(row: SnippetToCheck, repository: Repository, isDamaged: boolean): Promise<Finding[]> {
  const { full_path, default_branch: branch, commit_id, paths } = row;
  const [now, head] = await Promise.all([resolveBranch(repository, branch), headBranch(repository)]);
  const findings: Finding[] = [];
  if (now === undefined) findings.push(await missing(row, repository));
  else if (now !== commit_id)
    findings.push({
      sentence: `${full_path}: the branch ${branch} is at ${now}, but the last change left it at ${commit_id}. If that is right, \`check --accept-refs\` records it.`,
    });
  else if (
    !isDamaged &&
    (await Array.fromAsync(fileSizes(repository, now))).map(({ path }) => path).join('\0') !== paths.join('\0')
  )
    findings.push({ sentence: `${full_path}: the database lists other files than the repository has.` });
  if (head !== branch)
    findings.push({
      sentence: `${full_path}: HEAD points to ${head ?? 'no branch'}, but the branch is ${branch}.`,
      repair: async () => {
        await setHead(repository, branch);
        return `HEAD now points to ${branch}.`;
      },
    });
  return findings;
}

async function missing({ full_path, default_branch, commit_id }: SnippetToCheck, repository: Repository): Promise<Finding> {
  const said = `${full_path}: the branch ${default_branch} is missing`;
  if (!(await objectHeader(repository, commit_id)))
    return { sentence: `${said}, and so is ${commit_id}, where the last change left it. Restore it from a backup.` };
  return {
    sentence: `${said}; the last change left it at ${commit_id}. \`check --recover\` brings it back.`,
    recover: async () => {
      await bringBack(repository, `refs/heads/${default_branch}`, commit_id);
      return `It is at ${commit_id} again.`;
    },
  };
}
