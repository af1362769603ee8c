/** The messages of merge and squash commits: templates and their variables (docs/reference/merge_requests.md#messages). Pure functions. */

const usualMerge =
  "Merge branch '%{source_branch}' into '%{target_branch}'\n\n%{title}\n\nSee merge request %{reference}";
const usualSquash = '%{title}';

/** The values of template variables. */
export type Variables = {
  source_branch: string;
  target_branch: string;
  title: string;
  description: string;
  /** `Closes #1`, for the issues that merging closes; empty if there are none. */
  issues: string;
  /** With the full path of the project. */
  reference: string;
  local_reference: string;
  source_project_id: string;
  url: string;
  /** `Name <email>` */
  merged_by: string;
  merge_request_author: string;
  /** The whole message of the first commit. */
  first_commit: string;
  /** The first line of the first commit whose message has more than one, or the title. */
  first_multiline_commit: string;
  /** The other lines of that commit. */
  first_multiline_commit_description: string;
  /** A list of the messages of all commits. */
  all_commits: string;
  /** A trailer for each reviewer with a completed review. */
  reviewed_by: string;
  /** A trailer for each user who approved. */
  approved_by: string;
  /** A trailer for each author other than the merger. */
  co_authored_by: string;
};

const variable = /%\{([a-z_]+)\}/g;
const loneVariable = /^%\{([a-z_]+)\}$/;

const meaningOf = (variables: Record<string, string>, name: string): string | undefined =>
  Object.hasOwn(variables, name) ? variables[name] : undefined;

/** Replaces the variables in a template. Unknown variables stay; a line with only an empty variable is removed, with a preceding blank line. */
function filled(template: string, variables: Record<string, string>): string {
  const lines: string[] = [];
  for (const line of template.replaceAll('\r\n', '\n').split('\n')) {
    const name = loneVariable.exec(line)?.[1];
    if (name !== undefined && meaningOf(variables, name) === '') {
      if (lines.at(-1) === '') lines.pop();
      continue;
    }
    lines.push(line.replaceAll(variable, (text, named: string) => meaningOf(variables, named) ?? text));
  }
  return lines.join('\n').trim();
}

/**
 * The message of a merge commit.
 * @param template null for the default template
 */
export const mergeMessage = (template: string | null, variables: Variables): string =>
  filled(template ?? usualMerge, variables) || filled(usualMerge, variables);

/** The message of a squash commit. */
export const squashMessage = (template: string | null, variables: Variables): string =>
  filled(template ?? usualSquash, variables) || variables.title;

const usualSuggestion = 'Apply %{suggestions_count} suggestion(s) to %{files_count} file(s)\n\n%{co_authored_by}';

/** The values of variables in the message of a commit that applies suggestions. */
type SuggestionVariables = Record<
  | 'branch_name'
  | 'files_count'
  | 'file_paths'
  | 'project_path'
  | 'project_name'
  | 'suggestions_count'
  | 'username'
  | 'user_full_name'
  /** A trailer for each author other than the author of the commit. */
  | 'co_authored_by',
  string
>;

/**
 * The message of a commit that applies suggestions.
 * @param template null for the default template
 */
export const suggestionMessage = (template: string | null, variables: SuggestionVariables): string =>
  filled(template ?? usualSuggestion, variables) || filled(usualSuggestion, variables);

/** A reviewer, or a user who approved. */
export interface Agreeing {
  name: string;
  commit_email: string;
  has_reviewed: boolean;
  has_approved: boolean;
}

/** The variables derived from reviews. */
export function reviewVariables(people: readonly Agreeing[]): Pick<Variables, 'reviewed_by' | 'approved_by'> {
  const trailers = (name: string, those: readonly Agreeing[]) =>
    those.map((person) => `${name}: ${person.name} <${person.commit_email}>`).join('\n');
  return {
    reviewed_by: trailers(
      'Reviewed-by',
      people.filter(({ has_reviewed }) => has_reviewed),
    ),
    approved_by: trailers(
      'Approved-by',
      people.filter(({ has_approved }) => has_approved),
    ),
  };
}

/** A commit with the data that templates need. */
export interface Told {
  message: string;
  author_name: string;
  author_email: string;
}

const maximumTold = 100;

/**
 * The variables derived from commits.
 * @param commits oldest first
 * @param merger the email address of the user who merges
 */
export function variablesOf(commits: readonly Told[], title: string, merger: string) {
  const messages = commits.map(({ message }) => message.trim());
  const [subject = title, ...body] = (messages.find((message) => message.includes('\n')) ?? title).split('\n');
  const authors = new Map(
    commits.map(({ author_name, author_email }) => [author_email.toLowerCase(), `${author_name} <${author_email}>`]),
  );
  authors.delete(merger.toLowerCase());
  return {
    first_commit: messages[0] ?? '',
    first_multiline_commit: subject,
    first_multiline_commit_description: body.join('\n').trim(),
    all_commits: messages
      .slice(0, maximumTold)
      .map((message) => `* ${message}`)
      .join('\n\n'),
    co_authored_by: [...authors.values()]
      .slice(0, maximumTold)
      .map((author) => `Co-authored-by: ${author}`)
      .join('\n'),
  };
}
