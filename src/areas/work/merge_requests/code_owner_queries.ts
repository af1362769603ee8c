/** The code owners whose approvals a merge request needs (docs/reference/approvals.md#code-owners). */
import { sql } from 'kysely';
import { countsToday, levels } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  blobSize,
  changedFiles,
  entryAt,
  type Repository,
  readBlob,
  repositoryOf,
  resolveBranch,
  streamBlob,
} from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import { countsFrom, hasApprovedIt, most_eligible } from './approval_queries.ts';
import type { ApprovalTerms, Demand } from './approval_rules.ts';
import { type OwnerRule, ownerRules, ownerSections } from './code_owner_rules.ts';

/** The first of these files that exists is read. */
const places = ['CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS'];
/** What follows is ignored. */
const longest_file = 256 * 1024;

/** The complete lines at the beginning of a blob. */
async function beginningOf(repository: Repository, id: string): Promise<string> {
  if ((await blobSize(repository, id)) <= longest_file) return (await readBlob(repository, id)).toString('utf8');
  const chunks: Buffer[] = [];
  let size_bytes = 0;
  for await (const chunk of streamBlob(repository, id) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size_bytes += chunk.length;
    if (size_bytes >= longest_file) break;
  }
  const text = Buffer.concat(chunks).subarray(0, longest_file).toString('utf8');
  return text.slice(0, text.lastIndexOf('\n') + 1);
}

/** The file of a branch that names the owners, undefined without one. */
async function ownersFile(repository: Repository, branch: string): Promise<string | undefined> {
  const head = await resolveBranch(repository, branch);
  if (head === undefined) return undefined;
  for (const place of places) {
    const entry = await entryAt(repository, head, place);
    if (entry?.type === 'blob') return beginningOf(repository, entry.id);
  }
  return undefined;
}

/** What the target branch asks for the files that the last version changes. A renamed file counts at both places. */
async function rulesFor({ storages }: Pick<Services, 'storages'>, terms: ApprovalTerms): Promise<OwnerRule[]> {
  const { project_id, storage, target_branch, head_commit_id: head, base_commit_sha: base, is_large } = terms;
  if (head === null) return [];
  const repository = repositoryOf({ storages }, { id: project_id, storage });
  const text = await ownersFile(repository, target_branch);
  const sections = text === undefined ? [] : ownerSections(text);
  if (sections.length === 0) return [];
  const files = is_large ? undefined : await changedFiles(repository, { from: base, to: head });
  return ownerRules(
    sections,
    files?.map(({ path }) => path),
  );
}

/** Groups above the project, or invited to it or to one of these, as for entries of protected branches. */
const isOfProject = sql`(
  owning.id = any(place.traversal_ids)
  or exists (select from group_links where invited_group_id = owning.id and (project_id = projects.id or group_id = any(place.traversal_ids))
                                       and ${countsToday()}))`;

/**
 * Those whose approvals each rule counts: users by name or verified address, and members of groups of the project.
 * @returns in the order of the rules
 */
async function eligibleFor(
  db: Database,
  merge_request_id: number,
  { project_id, barred_ids }: ApprovalTerms,
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
                and ${countsFrom(barred_ids)} order by ${hasApprovedIt(merge_request_id)} desc, users.id limit ${sql.lit(most_eligible)}) as user_ids
      from projects join namespaces place on place.id = projects.namespace_id,
           rows from (jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as (names citext[], emails citext[])) with ordinality rule(names, emails, at)
     where projects.id = ${project_id} order by rule.at`.execute(db);
  return rows.map(({ user_ids }) => user_ids);
}

/** The rules of code owners for an open merge request, and whose approvals they count. */
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
