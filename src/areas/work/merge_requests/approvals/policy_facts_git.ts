/** The facts that rules of security policies need, from the repository and from what is known of packages. */
import { LRUCache } from 'lru-cache';
import { commitsIn, GitError, mergeBase, type Repository, repositoryOf, resolveBranch } from '../../../../git/index.ts';
import type { Services } from '../../../../http/index.ts';
import type { FactName, Facts, KnownFacts } from '../../../../security_policies/index.ts';
import { broughtBetween } from '../../../code/dependencies/index.ts';
import type { ApprovalTerms } from './rules.ts';

/** A merge request whose facts are gathered, with the heads of its branches. */
interface Subject {
  repository: Repository;
  project_id: number;
  head: string;
  target_head: string;
  base: string | null;
}

/** With more commits than this, a merge request is not examined. */
const maximumCommits = 10_000;

/** Counts by project and the two heads, which never change. */
const counted = new LRUCache<string, number>({ max: 10_000 });

async function unsignedCommits({ repository, project_id, head, target_head }: Subject): Promise<number | undefined> {
  const key = [project_id, head, target_head].join();
  const known = counted.get(key);
  if (known !== undefined) return known;
  let commits = 0;
  let unsigned = 0;
  for await (const batch of commitsIn(repository, { tips: [head], excluded: [target_head] })) {
    commits += batch.length;
    if (commits > maximumCommits) return undefined;
    unsigned += batch.filter(({ is_signed }) => !is_signed).length;
  }
  counted.set(key, unsigned);
  return unsigned;
}

/** The facts of a subject, as far as they are known. */
async function factsAbout(
  { db }: Pick<Services, 'db'>,
  subject: Subject,
  names: readonly FactName[],
): Promise<{ [Name in FactName]: Facts[Name] | undefined }> {
  const wanted = { vulnerabilities: names.includes('vulnerabilities'), packages: names.includes('packages') };
  const [unsigned_commits, brought] = await Promise.all([
    names.includes('unsigned_commits') ? unsignedCommits(subject) : undefined,
    wanted.vulnerabilities || wanted.packages ? broughtBetween(db, subject, wanted) : undefined,
  ]);
  return { unsigned_commits, vulnerabilities: brought?.vulnerabilities, packages: brought?.packages };
}

/**
 * The facts of a merge request, as far as they are known. What git cannot tell is missing.
 * @param names those that are needed
 */
export async function gatherFacts(
  services: Pick<Services, 'db' | 'storages'>,
  { project_id, storage, head_commit_id: head, target_branch }: ApprovalTerms,
  names: readonly FactName[],
): Promise<KnownFacts> {
  if (names.length === 0 || head === null) return {};
  const repository = repositoryOf(services, { id: project_id, storage });
  try {
    const target_head = await resolveBranch(repository, target_branch);
    if (target_head === undefined) return {};
    // As the branches are now: a target that was moved or exchanged has another base.
    const base = (await mergeBase(repository, [target_head, head])) ?? null;
    const subject = { repository, project_id, head, target_head, base };
    const found = await factsAbout(services, subject, names);
    return Object.fromEntries(Object.entries(found).filter(([, fact]) => fact !== undefined));
  } catch (error) {
    if (error instanceof GitError) return {};
    throw error;
  }
}
