/** What push rules are made of: their fields, what is wrong with them, and the texts of violations (docs/reference/push_rules.md). Pure functions. */
import { type Static, type TObject, Type } from 'typebox';
import { allOptional, checked, nullable } from '../../../http/index.ts';

/** The column holds four bytes. */
const largestSize_mib = 2 ** 31 - 1;

const lengthReasons = (most: number) => (text: string | null) =>
  text !== null && text.length > most ? [`is too long (maximum is ${most} characters)`] : [];

/** An expression; whether it compiles is found out by a thread, in the handler. */
const Regex = (description: string, most = 511) =>
  checked(nullable(Type.String({ description: `${description} (RE2). Null or empty: not checked` })), lengthReasons(most));

function sizeReasons(size: number): string[] {
  if (size < 0) return ['must be greater than or equal to 0'];
  return size > largestSize_mib ? [`must be less than or equal to ${largestSize_mib}`] : [];
}

const Flag = (description: string) => Type.Boolean({ description });

/** The fields of a push rule that can be set, in the order of replies. */
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

type RuleName = keyof typeof fields;

export const ruleNames = Object.keys(fields) as RuleName[];
/** The parameters of a change. */
export const changes = allOptional(fields);
export type RuleChanges = Static<TObject<typeof changes>>;

/** The fields that are expressions. */
export const regexNames = [
  'commit_message_regex',
  'commit_message_negative_regex',
  'branch_name_regex',
  'author_email_regex',
  'file_name_regex',
] as const satisfies RuleName[];
export type RegexName = (typeof regexNames)[number];

/** Whether `^` and `$` match at the ends of each line: in messages, which have many. */
export const isMultiline = (name: RegexName): boolean => name.startsWith('commit_message');
