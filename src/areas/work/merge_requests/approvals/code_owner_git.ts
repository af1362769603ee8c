/** The code owners whose approvals a merge request requires (docs/reference/approvals.md#code-owners). */
import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { countsToday, levels } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import {
  blobSize,
  changedFiles,
  entryAt,
  type Repository,
  readBlob,
  repositoryOf,
  resolveBranch,
  streamBlob,
} from '../../../../git/index.ts';
import type { Services } from '../../../../http/index.ts';
import { type OwnerRule, type OwnerSection, ownerRules, ownerSections } from './code_owner_rules.ts';
import type { Demand } from './demand_rules.ts';
import { countsFrom, hasApprovedIt, maximumEligible } from './queries.ts';
import type { ApprovalTerms } from './rules.ts';

/** The first existing file is used. */
const places = ['CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS'];
/** The rest of a longer file is ignored. */
const maximumFile = 256 * 1024;

/** The complete lines at the beginning of a blob. */
async function beginningOf(repository: Repository, id: string): Promise<string> {
  if ((await blobSize(repository, id)) <= maximumFile) return (await readBlob(repository, id)).toString('utf8');
  const chunks: Buffer[] = [];
  let size_bytes = 0;
  for await (const chunk of streamBlob(repository, id, { reader: 'server' }) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size_bytes += chunk.length;
    if (size_bytes >= maximumFile) break;
  }
  const text = Buffer.concat(chunks).subarray(0, maximumFile).toString('utf8');
  return text.slice(0, text.lastIndexOf('\n') + 1);
}

/** Parsed files by blob id, which never change: parsing and matching a malicious file takes half a second. */
const parsed = new LRUCache<string, readonly OwnerSection[]>({ maxSize: 16 * 1024 * 1024 });
const entry_bytes = 500;

/** Rules by the blob of the file and the two commits that are compared. */
const asked = new LRUCache<string, readonly OwnerRule[]>({
  maxSize: 16 * 1024 * 1024,
  sizeCalculation: (rules) =>
    500 + rules.reduce((sum, { name, owners }) => sum + 200 + name.length + 2 * owners.join().length, 0),
});

async function parse(repository: Repository, blob_id: string): Promise<readonly OwnerSection[]> {
  const text = await beginningOf(repository, blob_id);
  const sections = ownerSections(text);
  const count = sections.reduce((sum, { entries }) => sum + entries.length, 0);
  parsed.set(blob_id, sections, { size: 1_000 + 2 * text.length + count * entry_bytes });
  return sections;
}

interface OwnersFile {
  blob_id: string;
  sections: readonly OwnerSection[];
}

/** The CODEOWNERS file of a branch, undefined if there is none. */
async function ownersFile(repository: Repository, branch: string): Promise<OwnersFile | undefined> {
  const head = await resolveBranch(repository, branch);
  if (head === undefined) return undefined;
  for (const place of places) {
    const entry = await entryAt(repository, head, place);
    if (entry?.type !== 'blob') continue;
    return { blob_id: entry.id, sections: parsed.get(entry.id) ?? (await parse(repository, entry.id)) };
  }
  return undefined;
}

/** The rules of the target branch for the files changed by the latest version. A renamed file counts at both paths. */
async function rulesFor({ storages }: Pick<Services, 'storages'>, terms: ApprovalTerms): Promise<readonly OwnerRule[]> {
  const { project_id, storage, target_branch, head_commit_id: head, base_commit_sha: base, is_large } = terms;
  if (head === null) return [];
  const repository = repositoryOf({ storages }, { id: project_id, storage });
  const file = await ownersFile(repository, target_branch);
  if (!file || file.sections.length === 0) return [];
  const key = [file.blob_id, base, head, is_large].join();
  const known = asked.get(key);
  if (known) return known;
  const files = is_large ? undefined : await changedFiles(repository, { from: base, to: head });
  const rules = await ownerRules(
    file.sections,
    files?.map(({ path }) => path),
  );
  asked.set(key, rules);
  return rules;
}

/** A head of the source branch, and its merge base. */
interface Span {
  head: string;
  base: string | null;
}

/** The most changed files that are compared one by one. */
const maximumCompared = 1_000;

const contentsIn = async (repository: Repository, { base, head }: Span) =>
  new Map(
    (await changedFiles(repository, { from: base, to: head })).map(({ path, old_id, id, mode }) => [
      path,
      [old_id, id, mode].join(),
    ]),
  );

/** The files whose changes differ between two versions; undefined if there are too many. */
async function pathsBetween(repository: Repository, from: Span, to: Span): Promise<string[] | undefined> {
  const [before, after] = await Promise.all([contentsIn(repository, from), contentsIn(repository, to)]);
  const paths = [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => before.get(path) !== after.get(path),
  );
  return paths.length > maximumCompared ? undefined : paths;
}

/**
 * The owners of the files whose changes differ in a new version, whether their approval is required or not.
 * @param target_branch the branch whose current file is used
 * @returns the rules, as input for `ownerIds`
 */
export async function ownersOfChanges(
  repository: Repository,
  target_branch: string,
  from: Span,
  to: Span,
): Promise<readonly OwnerRule[]> {
  const file = await ownersFile(repository, target_branch);
  if (!file || file.sections.length === 0) return [];
  const paths = await pathsBetween(repository, from, to);
  return paths?.length === 0 ? [] : ownerRules(file.sections, paths);
}

/** The users named in rules who may approve; users who have approved come first. */
export async function ownerIds(
  db: Database,
  merge_request_id: number,
  project_id: number,
  rules: readonly OwnerRule[],
): Promise<number[]> {
  return [...new Set((await eligibleFor(db, merge_request_id, { project_id, barred_ids: [] }, rules)).flat())];
}

/**
 * The users who own files, by the CODEOWNERS file of a branch.
 * @param paths of the files
 */
export async function ownersOfPaths(
  services: Pick<Services, 'db' | 'storages'>,
  project_id: number,
  branch: string,
  paths: readonly string[],
): Promise<number[]> {
  const project = await services.db
    .selectFrom('projects')
    .select(['id', 'storage'])
    .where('id', '=', project_id)
    .executeTakeFirstOrThrow();
  const file = await ownersFile(repositoryOf(services, project), branch);
  if (!file || file.sections.length === 0) return [];
  // No merge request has approvals of them yet.
  return ownerIds(services.db, 0, project_id, await ownerRules(file.sections, paths));
}

/** Groups above the project, or invited to it or to one of these, as for entries of protected branches. */
const isOfProject = sql`(
  owning.id = any(place.traversal_ids)
  or exists (select from group_links where invited_group_id = owning.id and (project_id = projects.id or group_id = any(place.traversal_ids))
                                       and ${countsToday()}))`;

/**
 * The users whose approvals count for each rule: users by name or verified address, and members of groups of the project.
 * @returns in the order of the rules
 */
async function eligibleFor(
  db: Database,
  merge_request_id: number,
  { project_id, barred_ids }: Pick<ApprovalTerms, 'project_id' | 'barred_ids'>,
  rules: readonly OwnerRule[],
): Promise<number[][]> {
  const given = rules.map(({ owners }) => ({
    names: owners.flatMap((owner) => (owner.startsWith('@') ? owner.slice(1) : [])),
    emails: owners.filter((owner) => !owner.startsWith('@')),
  }));
  const { rows } = await sql<{ user_ids: number[] }>`
    select array(
             select users.id from users
              where users.id in (select id from users where username = any(rule.names)
                                 union select user_id from emails where email = any(rule.emails) and confirmed_at is not null
                                 union select user_id from namespaces owning join group_authorizations on group_id = owning.id
                                        where owning.full_path = any(rule.names) and owning.kind = 'group' and ${isOfProject}
                                          and access_level >= ${levels.guest} and ${countsToday()})
                and ${countsFrom(barred_ids)} order by ${hasApprovedIt(merge_request_id)} desc, users.id limit ${sql.lit(maximumEligible)}) as user_ids
      from projects join namespaces place on place.id = projects.namespace_id,
           rows from (jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as (names citext[], emails citext[])) with ordinality rule(names, emails, at)
     where projects.id = ${project_id} order by rule.at`.execute(db);
  return rows.map(({ user_ids }) => user_ids);
}

/** The code owner rules for an open merge request, with the users whose approvals count. */
export async function ownerDemands(
  services: Pick<Services, 'db' | 'storages'>,
  merge_request_id: number,
  terms: ApprovalTerms,
): Promise<{ demand: Demand; eligible_ids: number[] }[]> {
  const rules = await rulesFor(services, terms);
  if (rules.length === 0) return [];
  const eligible = await eligibleFor(services.db, merge_request_id, terms, rules);
  return rules.map(({ name, section, approvals_required }, index) => ({
    demand: { id: null, name, rule_type: 'code_owner', approvals_required, section },
    eligible_ids: eligible[index] ?? [],
  }));
}
