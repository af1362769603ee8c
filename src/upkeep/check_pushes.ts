/** Compares the refs of a repository with the refs recorded in the database, and finds commits that lost their refs. */
import { beforeAll, recordRefsIn } from '../areas/code/repository/index.ts';
import type { Database } from '../db/index.ts';
import {
  allRefs,
  danglingCommits,
  objectHeader,
  type RefUpdate,
  type Repository,
  readCommit,
  updateRefs,
} from '../git/index.ts';
import { counted } from '../texts/index.ts';
import type { Finding } from './finding.ts';
import { bringBack, refDifferences, shownRef } from './recorded_refs.ts';
import type { RepositoryRow } from './repositories.ts';

/** Refs that are missing, elsewhere, or there without having been pushed. */
export async function checkPushes(db: Database, row: RepositoryRow, repository: Repository): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { ref, recorded, now } of await refDifferences(db, row, repository)) {
    const said = `${row.full_path}: the ${shownRef(ref)}`;
    if (recorded === null) findings.push({ sentence: `${said} exists, but no push created it.${acceptance}` });
    else if (now === null) findings.push(await missing(said, repository, ref, recorded));
    else findings.push({ sentence: `${said} is at ${now}, but the last push left it at ${recorded}.${acceptance}` });
  }
  return findings;
}

const acceptance = ' If that is right, `check --accept-refs` records it.';

async function missing(said: string, repository: Repository, ref: string, target: string): Promise<Finding> {
  if (!(await objectHeader(repository, target)))
    return {
      sentence: `${said} is missing, and so is ${target}, where the last push left it. Restore it from a backup.`,
    };
  return {
    sentence: `${said} is missing; the last push left it at ${target}. \`check --recover\` brings it back.`,
    recover: async () => {
      await bringBack(repository, ref, target);
      return `It is at ${target} again.`;
    },
  };
}

/** For a repository that has lost refs. Elsewhere such commits are normal, since every forced push leaves some. */
export async function checkDangling(
  db: Database,
  { id, full_path }: { id: number; full_path: string },
  repository: Repository,
): Promise<Finding[]> {
  const ids = await danglingCommits(repository);
  if (ids.length === 0) return [];
  const newest = (await Promise.all(ids.map((commit) => readCommit(repository, commit))))
    .toSorted((a, b) => Date.parse(b.committed_date) - Date.parse(a.committed_date))
    .at(0)!;
  const lines = counted(ids.length, 'line of history belongs', 'lines of history belong');
  return [
    {
      sentence: `${full_path}: ${lines} to no branch; the newest commit is ${newest.id}, “${newest.title}”. \`check --recover\` creates branches for them.`,
      recover: () => recoverDangling(db, id, repository),
    },
  ];
}

/** Looked up again, because recovered refs may contain some of them now. */
async function recoverDangling(db: Database, project_id: number, repository: Repository): Promise<string> {
  const commits = (await danglingCommits(repository)).map((id) => ({
    ref: `refs/heads/recovered/${id.slice(0, 12)}`,
    id,
  }));
  const existing = await allRefs(repository);
  const fresh = commits
    .filter(({ ref }) => !existing.has(ref))
    .map(({ ref, id }) => ({ ref, old: null, new: id }) satisfies RefUpdate);
  if (fresh.length > 0) await updateRefs(repository, fresh);
  // Otherwise the next check would wonder who created them.
  await recordRefsIn(db, 'recorded_refs', project_id, { moved: fresh, update_id: beforeAll });
  return `Created ${counted(fresh.length, 'branch', 'branches')} below recovered/.`;
}
