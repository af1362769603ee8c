/** Checks commits, files, branches and tags against a push rule (docs/reference/push_rules.md#evaluation). */
import type { Owner, Project } from '../../../access/index.ts';
import { InvalidExpression, MatchingTimeout, matchEach } from '../../../expressions/index.ts';
import {
  blobsLargerThan,
  type CommitRange,
  commitsIn,
  type Environment,
  filesAddedIn,
  type PushedCommit,
  type RefUpdate,
  type Repository,
} from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import { addressesOfUsers, type Pusher, pusherWith, ruleForNew, ruleInForce } from './queries.ts';
import {
  hasSignoff,
  isMultiline,
  noRule,
  type RegexName,
  type Rule,
  type RuleName,
  secretIn,
  texts,
  type Violation,
} from './rules.ts';

/** The time limit of a check, and the number of violations that a refused push lists. Tests change them. */
export const checkLimits = { budget_ms: 30_000, listed: 20 };

const mib = 1024 * 1024;

/** The check was aborted; the message explains why, for people. */
export class CheckFailed extends Error {
  override name = 'CheckFailed';
}

/** The input of a check. */
export interface Question {
  rule: Rule;
  /** The user who pushes. */
  user_id: number;
  repository: Repository;
  range: CommitRange;
  /** Names of created or changed branches. */
  branches: readonly string[];
  deleted_tags: number;
  /** Whether a git client pushes; commits created by the server are not signed. */
  is_push: boolean;
  /** Whether to count also commits and files that no rule applies to. */
  counts_all: boolean;
}

/** The result of a check: the first violations, and counts. */
class Findings {
  readonly listed: Violation[] = [];
  violations = 0;
  commits = 0;
  files = 0;
  readonly #most: number;

  /** @param most the most violations that are listed */
  constructor(most: number) {
    this.#most = most;
  }

  add(
    rule: RuleName,
    message: string,
    { commit_id = null, file_path = null }: Partial<Omit<Violation, 'rule'>> = {},
  ): void {
    this.violations++;
    if (this.listed.length < this.#most) this.listed.push({ rule, commit_id, file_path, message });
  }
}

/** A running check. */
interface Check extends Question {
  services: Pick<Services, 'db' | 'url'>;
  findings: Findings;
  /** Which texts match the expression of a field; undefined if the field has none. */
  matches(name: RegexName, texts: readonly string[]): Promise<readonly boolean[] | undefined>;
}

/** @throws MatchingTimeout, CheckFailed for an expression that does not compile */
function matcher(rule: Rule, until_ms: number): Check['matches'] {
  return async (name, subjects) => {
    const source = rule[name];
    if (!source || subjects.length === 0) return undefined;
    const left_ms = until_ms - performance.now();
    if (left_ms <= 0) throw new CheckFailed(texts.timeout);
    try {
      return await matchEach({ source, multiline: isMultiline(name) }, subjects, left_ms);
    } catch (error) {
      if (error instanceof InvalidExpression) throw new CheckFailed(texts.invalid(source, error.reason));
      throw error;
    }
  };
}

async function checkBranches({ rule, branches, matches, findings }: Check): Promise<void> {
  const follows = await matches('branch_name_regex', branches);
  for (const [index, name] of branches.entries())
    if (follows?.[index] === false)
      findings.add('branch_name_regex', texts.branch_name_regex(name, rule.branch_name_regex!));
}

/** Facts besides the commit itself that the rules need, for a batch of commits. */
interface CommitFacts {
  follows: readonly boolean[] | undefined;
  forbidden: readonly boolean[] | undefined;
  committer: readonly boolean[] | undefined;
  author: readonly boolean[] | undefined;
  pusher: Pusher | undefined;
  isMember: (email: string) => boolean;
}

/** The reasons for refusing a commit, in list order. */
function* reasonsAgainst(
  check: Check,
  commit: PushedCommit,
  at: number,
  facts: CommitFacts,
): Generator<[RuleName, string]> {
  const { rule, is_push } = check;
  const { author_email, committer_email, message } = commit;
  yield* messageReasons(rule, commit, at, facts);
  if (facts.committer?.[at] === false)
    yield ['author_email_regex', texts.committer_email(committer_email, rule.author_email_regex!)];
  if (facts.author?.[at] === false)
    yield ['author_email_regex', texts.author_email(author_email, rule.author_email_regex!)];
  if (facts.pusher) yield* pusherReasons(rule, commit, facts.pusher);
  if (rule.reject_non_dco_commits && !hasSignoff(message)) yield ['reject_non_dco_commits', texts.noSignoff];
  if (rule.reject_unsigned_commits && is_push && !commit.is_signed) yield ['reject_unsigned_commits', texts.unsigned];
  if (!rule.member_check) return;
  if (!facts.isMember(author_email)) yield ['member_check', texts.noAuthor(author_email)];
  if (author_email.toLowerCase() !== committer_email.toLowerCase() && !facts.isMember(committer_email))
    yield ['member_check', texts.noCommitter(committer_email)];
}

function* messageReasons(
  { commit_message_regex, commit_message_negative_regex }: Rule,
  { is_cut }: PushedCommit,
  at: number,
  { follows, forbidden }: CommitFacts,
): Generator<[RuleName, string]> {
  if (is_cut && (follows || forbidden))
    yield [follows ? 'commit_message_regex' : 'commit_message_negative_regex', texts.tooLongMessage];
  else {
    if (follows?.[at] === false) yield ['commit_message_regex', texts.commit_message_regex(commit_message_regex!)];
    if (forbidden?.[at])
      yield ['commit_message_negative_regex', texts.commit_message_negative_regex(commit_message_negative_regex!)];
  }
}

function* pusherReasons(
  rule: Rule,
  { author_name, author_email, committer_email }: PushedCommit,
  pusher: Pusher,
): Generator<[RuleName, string]> {
  const committer = committer_email.toLowerCase();
  if (rule.commit_committer_check && !pusher.own.has(committer))
    yield [
      'commit_committer_check',
      pusher.unverified.has(committer) ? texts.unverified(committer_email) : texts.foreignCommitter(committer_email),
    ];
  if (rule.commit_committer_name_check && author_email.toLowerCase() === committer && author_name !== pusher.name)
    yield ['commit_committer_name_check', texts.otherName];
}

/** Looks up which addresses belong to users, each address once. */
function memberLookup(services: Check['services']) {
  const known = new Map<string, boolean>();
  return async (commits: readonly PushedCommit[]): Promise<CommitFacts['isMember']> => {
    const emails = commits.flatMap(({ author_email, committer_email }) => [
      author_email.toLowerCase(),
      committer_email.toLowerCase(),
    ]);
    const unknown = [...new Set(emails)].filter((email) => !known.has(email));
    const found = unknown.length > 0 ? await addressesOfUsers(services, unknown) : new Set();
    for (const email of unknown) known.set(email, found.has(email));
    return (email) => known.get(email.toLowerCase()) ?? false;
  };
}

const commitRules = [
  'commit_message_regex',
  'commit_message_negative_regex',
  'author_email_regex',
  'commit_committer_check',
  'commit_committer_name_check',
  'reject_unsigned_commits',
  'reject_non_dco_commits',
  'member_check',
] as const satisfies RuleName[];

async function checkCommits(check: Check): Promise<void> {
  const { rule, repository, range, services, findings, matches } = check;
  if (!check.counts_all && commitRules.every((name) => !rule[name])) return;
  const needsPusher = rule.commit_committer_check || rule.commit_committer_name_check;
  const pusher = needsPusher ? await pusherWith(services, check.user_id) : undefined;
  const membersAmong = rule.member_check ? memberLookup(services) : async () => () => true;
  for await (const batch of commitsIn(repository, range)) {
    findings.commits += batch.length;
    const messages = batch.map(({ message }) => message);
    const [follows, forbidden, committer, author, isMember] = await Promise.all([
      matches('commit_message_regex', messages),
      matches(
        'commit_message_negative_regex',
        messages.map((message) => message.replace(/\n$/, '')),
      ),
      matches(
        'author_email_regex',
        batch.map(({ committer_email }) => committer_email),
      ),
      matches(
        'author_email_regex',
        batch.map(({ author_email }) => author_email),
      ),
      membersAmong(batch),
    ]);
    const facts = { follows, forbidden, committer, author, pusher, isMember };
    for (const [at, commit] of batch.entries())
      for (const [name, message] of reasonsAgainst(check, commit, at, facts))
        findings.add(name, message, { commit_id: commit.id });
  }
}

async function checkFileNames({ rule, counts_all, repository, range, findings, matches }: Check): Promise<void> {
  if (!counts_all && !rule.file_name_regex && !rule.prevent_secrets) return;
  for await (const batch of filesAddedIn(repository, range)) {
    findings.files += batch.length;
    const prohibited = await matches(
      'file_name_regex',
      batch.map(({ path }) => path),
    );
    for (const [at, { commit_id, path }] of batch.entries()) {
      const where = { commit_id, file_path: path };
      if (prohibited?.[at]) findings.add('file_name_regex', texts.file_name(path, rule.file_name_regex!), where);
      const secret = rule.prevent_secrets ? secretIn(path) : undefined;
      if (secret !== undefined) findings.add('prevent_secrets', texts.file_name(path, secret), where);
    }
  }
}

async function checkSizes({ rule: { max_file_size }, repository, range, findings }: Check): Promise<void> {
  if (max_file_size === 0) return;
  for await (const batch of blobsLargerThan(repository, range, max_file_size * mib))
    for (const { path } of batch)
      findings.add('max_file_size', texts.max_file_size(path, max_file_size), { file_path: path });
}

/**
 * Checks commits and the files they add against a rule, within a time limit.
 * @param most the most violations that are listed; all are counted
 * @throws CheckFailed if it times out or an expression does not compile
 */
export async function findingsOf(
  services: Pick<Services, 'db' | 'url'>,
  question: Question,
  most: number,
): Promise<Findings> {
  const { budget_ms } = checkLimits;
  const signal = AbortSignal.timeout(budget_ms);
  const findings = new Findings(most);
  const matches = matcher(question.rule, performance.now() + budget_ms);
  const check = { ...question, range: { ...question.range, signal }, services, findings, matches };
  try {
    for (let deleted = 0; deleted < question.deleted_tags; deleted++)
      findings.add('deny_delete_tag', texts.deny_delete_tag);
    await checkBranches(check);
    await checkCommits(check);
    await checkFileNames(check);
    await checkSizes(check);
    return findings;
  } catch (error) {
    // A stopped git process fails with its own error.
    if (error instanceof MatchingTimeout || (signal.aborted && !(error instanceof CheckFailed)))
      throw new CheckFailed(texts.timeout);
    throw error;
  }
}

/** A request to move references. */
interface Push {
  project: Pick<Project, 'default_branch'>;
  caller: { id: number };
  /** Set for a push by a git client. */
  quarantine?: Environment;
}

const nameAfter = (prefix: string, ref: string): string | undefined =>
  ref.startsWith(prefix) ? ref.slice(prefix.length) : undefined;

/**
 * The reasons for which the push rule of a project refuses reference updates, in list order; empty if it accepts them.
 * @param updates their objects are in the repository, or in the quarantine of the push
 */
export async function pushRuleRefusals(
  services: Pick<Services, 'db' | 'url'>,
  push: Push & { project: Pick<Project, 'id'> },
  repository: Repository,
  updates: readonly RefUpdate[],
): Promise<string[]> {
  const rule = await ruleInForce(services.db, push.project.id);
  return rule ? refusalsBy(rule, services, push, repository, updates) : [];
}

/**
 * The reasons for which the initial push rule refuses the first commit of a project that has no row yet; empty if it accepts it.
 * @param updates their objects are in the repository
 */
export async function firstCommitRefusals(
  services: Pick<Services, 'db' | 'url'>,
  push: Push & { project: { namespace_id: number } },
  repository: Repository,
  updates: readonly RefUpdate[],
): Promise<string[]> {
  const rule = await ruleForNew(services.db, push.project.namespace_id);
  return rule ? refusalsBy(rule, services, push, repository, updates) : [];
}

/**
 * The reasons for which the push rule of a project or group refuses new files in its wiki: only the size limit applies there.
 * @param owner the owner of the wiki; a group without a rule uses the rule of the nearest ancestor group
 */
export async function largeFileRefusals(
  services: Pick<Services, 'db' | 'url'>,
  { project_id, group_id }: Owner,
  push: Push,
  repository: Repository,
  updates: readonly RefUpdate[],
): Promise<string[]> {
  const rule = await (project_id === null ? ruleForNew(services.db, group_id!) : ruleInForce(services.db, project_id));
  const { max_file_size = 0 } = rule ?? {};
  return max_file_size > 0 ? refusalsBy({ ...noRule, max_file_size }, services, push, repository, updates) : [];
}

async function refusalsBy(
  rule: Rule,
  services: Pick<Services, 'db' | 'url'>,
  { project, caller, quarantine }: Push,
  repository: Repository,
  updates: readonly RefUpdate[],
): Promise<string[]> {
  const is_push = quarantine !== undefined;
  const set = updates.filter((update) => update.new !== null);
  const branches = set
    .map(({ ref }) => nameAfter('refs/heads/', ref))
    .filter((name) => name !== undefined && name !== '' && name !== project.default_branch);
  const deleted = updates.filter(
    (update) => update.new === null && update.old !== null && update.ref.startsWith('refs/tags/'),
  );
  const question: Question = {
    rule,
    user_id: caller.id,
    repository,
    range: { tips: set.map((update) => update.new!), env: quarantine },
    branches: branches as string[],
    deleted_tags: is_push && rule.deny_delete_tag ? deleted.length : 0,
    is_push,
    counts_all: false,
  };
  try {
    const { listed, violations } = await findingsOf(services, question, checkLimits.listed);
    const hidden = violations - listed.length;
    return [...listed.map(({ message }) => message), ...(hidden > 0 ? [texts.more(hidden)] : [])];
  } catch (error) {
    if (error instanceof CheckFailed) return [error.message];
    throw error;
  }
}
