/** Compares the refs of a repository with those that the database has recorded, and finds commits that lost their refs. */
import { recordRefs } from '../areas/code/repository/index.ts';
import type { Database } from '../db/index.ts';
import {
  allRefs,
  clearBrokenRef,
  danglingCommits,
  objectHeader,
  type RefUpdate,
  type Repository,
  readCommit,
  updateRefs,
} from '../git/index.ts';
import { counted, type Finding } from './finding.ts';

interface Recorded {
  refs: Map<string, string>;
  /** Whether every ref of the project was recorded, which is so for projects that were created since there are records. */
  isComplete: boolean;
}

async function recordedRefs(db: Database, project_id: number): Promise<Recorded> {
  const rows = await db
    .selectFrom('recorded_refs')
    .select(['ref', 'target'])
    .where('project_id', '=', project_id)
    .orderBy('ref')
    .execute();
  const project = await db.selectFrom('projects').select('refs_recorded').where('id', '=', project_id).executeTakeFirst();
  return { refs: new Map(rows.map(({ ref, target }) => [ref, target])), isComplete: project?.refs_recorded === true };
}

/** Whether no branch is left because pushes deleted them all. */
export async function wereBranchesDeleted(db: Database, project_id: number): Promise<boolean> {
  const { refs, isComplete } = await recordedRefs(db, project_id);
  return isComplete && ![...refs.keys()].some((ref) => ref.startsWith('refs/heads/'));
}

const nameOf = (ref: string) => ref.replace(/^refs\/(heads|tags)\//, (_whole, kind) => (kind === 'heads' ? 'branch ' : 'tag '));

/** Refs that are missing, elsewhere, or there without having been pushed. */
export async function checkPushes(
  db: Database,
  project: { id: number; full_path: string },
  repository: Repository,
): Promise<Finding[]> {
  const [refs, recorded] = await Promise.all([allRefs(repository), recordedRefs(db, project.id)]);
  const findings: Finding[] = [];
  for (const [ref, target] of recorded.refs) {
    const said = `${project.full_path}: the ${nameOf(ref)}`;
    const now = refs.get(ref);
    if (now === undefined) findings.push(await missing(said, repository, ref, target));
    else if (now !== target) findings.push({ sentence: `${said} is at ${now}, but the last push left it at ${target}.` });
  }
  const added = [...refs.keys()].filter((ref) => /^refs\/(heads|tags)\//.test(ref) && !recorded.refs.has(ref));
  if (recorded.isComplete)
    for (const ref of added)
      findings.push({ sentence: `${project.full_path}: the ${nameOf(ref)} exists, but no push created it.` });
  return findings;
}

async function missing(said: string, repository: Repository, ref: string, target: string): Promise<Finding> {
  if (!(await objectHeader(repository, target)))
    return { sentence: `${said} is missing, and so is ${target}, where the last push left it. Restore it from a backup.` };
  return {
    sentence: `${said} is missing; the last push left it at ${target}. \`check --recover\` brings it back.`,
    recover: async () => {
      await clearBrokenRef(repository, ref);
      await updateRefs(repository, [{ ref, old: null, new: target }]);
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
  const commits = (await danglingCommits(repository)).map((id) => ({ ref: `refs/heads/recovered/${id.slice(0, 12)}`, id }));
  const existing = await allRefs(repository);
  const fresh = commits
    .filter(({ ref }) => !existing.has(ref))
    .map(({ ref, id }) => ({ ref, old: null, new: id }) satisfies RefUpdate);
  if (fresh.length > 0) await updateRefs(repository, fresh);
  // Otherwise the next check would wonder who created them.
  await recordRefs(db, project_id, 0, fresh);
  return `Created ${counted(fresh.length, 'branch', 'branches')} below recovered/.`;
}
