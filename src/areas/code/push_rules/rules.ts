/** The fields of push rules, their validation, and the texts of violations (docs/reference/push_rules.md). Pure functions. */
import { type Static, type TObject, Type } from 'typebox';
import { allOptional, checked, nullable } from '../../../http/index.ts';

/** The column has four bytes. */
const maximumSize_mib = 2 ** 31 - 1;

export const lengthReasons = (most: number) => (text: string | null) =>
  text !== null && text.length > most ? [`is too long (maximum is ${most} characters)`] : [];

/** An expression. The handler compiles it in a thread to validate it. */
const Regex = (description: string, most = 511) =>
  checked(
    nullable(Type.String({ description: `${description} (RE2). Null or empty: not checked` })),
    lengthReasons(most),
  );

function sizeReasons(size: number): string[] {
  if (size < 0) return ['must be greater than or equal to 0'];
  return size > maximumSize_mib ? [`must be less than or equal to ${maximumSize_mib}`] : [];
}

const Flag = (description: string) => Type.Boolean({ description });

/** The settable fields of a push rule, in the order of replies. */
export const fields = {
  commit_message_regex: Regex('All commit messages must match'),
  commit_message_negative_regex: Regex('No commit message may match', 2047),
  branch_name_regex: Regex('All branch names must match'),
  deny_delete_tag: Flag('Whether a push cannot delete tags'),
  member_check: Flag('Whether authors and committers must be users of this server'),
  prevent_secrets: Flag('Whether files that are likely to be secrets are refused'),
  author_email_regex: Regex('All email addresses of authors and committers must match'),
  file_name_regex: Regex('No path of a new file may match'),
  max_file_size: checked(Type.Integer({ description: 'Largest new file, in MiB; 0: no limit' }), sizeReasons),
  commit_committer_check: Flag('Whether the committer must be the user who pushes, by a verified address'),
  commit_committer_name_check: Flag("Whether the author's name must be the name of the user who pushes"),
  reject_unsigned_commits: Flag('Whether pushed commits must be signed'),
  reject_non_dco_commits: Flag('Whether commit messages must contain a `Signed-off-by` line'),
};

export type Rule = Static<TObject<typeof fields>>;
export type RuleName = keyof Rule;

export const ruleNames = Object.keys(fields) as RuleName[];
/** The parameters of a change. */
export const changes = allOptional(fields);
export type RuleChanges = Static<TObject<typeof changes>>;

/** A rule that checks nothing. */
export const noRule: Rule = {
  commit_message_regex: null,
  commit_message_negative_regex: null,
  branch_name_regex: null,
  deny_delete_tag: false,
  member_check: false,
  prevent_secrets: false,
  author_email_regex: null,
  file_name_regex: null,
  max_file_size: 0,
  commit_committer_check: false,
  commit_committer_name_check: false,
  reject_unsigned_commits: false,
  reject_non_dco_commits: false,
};

/** The fields that are expressions. */
export const regexNames = [
  'commit_message_regex',
  'commit_message_negative_regex',
  'branch_name_regex',
  'author_email_regex',
  'file_name_regex',
] as const satisfies RuleName[];
export type RegexName = (typeof regexNames)[number];

/** Whether `^` and `$` match at line boundaries: true for messages, which have several lines. */
export const isMultiline = (name: RegexName): boolean => name.startsWith('commit_message');

/** A violation of a rule. */
export interface Violation {
  rule: RuleName;
  commit_id: string | null;
  file_path: string | null;
  message: string;
}

/** Path patterns of files that are likely to contain secrets, as shown in refusals. */
const secretPatterns: readonly RegExp[] = [
  /aws\/credentials$/,
  /(ssh|config)\/(personal|server)_(rsa|dsa|ed25519|ecdsa|ecdsa_sk|ed25519_sk)/,
  /id_rsa$/,
  /id_dsa$/,
  /id_ed25519$/,
  /id_ecdsa$/,
  /id_ecdsa_sk$/,
  /id_ed25519_sk$/,
  /\.(pem|key)$/,
  /[._]history$/,
];
const anySecret = new RegExp(secretPatterns.map(({ source }) => `(?:${source})`).join('|'));

/** The secrets pattern that a path matches. */
export const secretIn = (path: string): string | undefined =>
  anySecret.test(path) ? secretPatterns.find((pattern) => pattern.test(path))?.source : undefined;

const signoff = 'Signed-off-by:';

/** Whether a message has a line like `Signed-off-by: Name <address@host>`. A regular expression would take quadratic time for a long line. */
export function hasSignoff(message: string): boolean {
  for (let at = message.indexOf(signoff); at >= 0; ) {
    const end = message.indexOf('\n', at);
    if (namesSomeone(message.slice(at + signoff.length, end < 0 ? undefined : end))) return true;
    at = end < 0 ? -1 : message.indexOf(signoff, end);
  }
  return false;
}

/** Whether a text has a name before `<`, and an address up to `>`. */
function namesSomeone(text: string): boolean {
  const open = text.indexOf('<', 1);
  const at = open < 0 ? -1 : text.indexOf('@', open + 2);
  return at >= 0 && text.lastIndexOf('>') >= at + 2;
}

/** The texts of violations and of failed checks. */
export const texts = {
  commit_message_regex: (regex: string) => `Commit message does not follow the pattern '${regex}'`,
  commit_message_negative_regex: (regex: string) => `Commit message contains the forbidden pattern '${regex}'`,
  tooLongMessage: 'Commit message is longer than 1 MiB, so that it cannot be checked',
  branch_name_regex: (name: string, regex: string) => `Branch name '${name}' does not follow the pattern '${regex}'`,
  committer_email: (email: string, regex: string) =>
    `Committer's email '${email}' does not follow the pattern '${regex}'`,
  author_email: (email: string, regex: string) => `Author's email '${email}' does not follow the pattern '${regex}'`,
  unverified: (email: string) => `Committer email '${email}' is not verified.`,
  foreignCommitter: (email: string) =>
    `You cannot push commits for '${email}'. You can only push commits if the committer email is one of your own verified emails.`,
  otherName: 'Your git author name is inconsistent with Coppice account name',
  noSignoff: 'Commit message must contain a DCO signoff',
  unsigned: 'Commit must be signed',
  noAuthor: (email: string) => `Author '${email}' is not a member of team`,
  noCommitter: (email: string) => `Committer '${email}' is not a member of team`,
  file_name: (path: string, pattern: string) => `File name ${path} was prohibited by the pattern "${pattern}".`,
  max_file_size: (path: string, limit_mib: number) =>
    `File "${path}" is larger than the allowed size of ${limit_mib} MB. Use Git LFS to manage this file.`,
  deny_delete_tag: 'You cannot delete a tag',
  timeout: 'Push operation timed out',
  invalid: (regex: string, reason: string) => `Regular expression '${regex}' is invalid: ${reason}`,
  more: (count: number) => `${count} more ${count === 1 ? 'violation is' : 'violations are'} not shown.`,
};

/** The possible refusals of a branch change, for the documentation of its endpoints. */
export const pushRuleTexts: readonly string[] = [
  texts.commit_message_regex('<regex>'),
  texts.commit_message_negative_regex('<regex>'),
  texts.tooLongMessage,
  texts.branch_name_regex('<name>', '<regex>'),
  texts.committer_email('<email>', '<regex>'),
  texts.author_email('<email>', '<regex>'),
  texts.unverified('<email>'),
  texts.foreignCommitter('<email>'),
  texts.otherName,
  texts.noSignoff,
  texts.noAuthor('<email>'),
  texts.noCommitter('<email>'),
  texts.file_name('<path>', '<regex>'),
  'File "<path>" is larger than the allowed size of <limit> MB. Use Git LFS to manage this file.',
  texts.timeout,
  texts.invalid('<regex>', '<reason>'),
];
