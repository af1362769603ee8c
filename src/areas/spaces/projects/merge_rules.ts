/** Merge settings: the parameters, and their fields in projects (docs/reference/projects.md#merging). */
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import { checked, nullable, optional, since } from '../../../http/index.ts';

const mergeMethod = () =>
  Type.Enum(['merge', 'rebase_merge', 'ff'], {
    description:
      '`merge` makes a merge commit, `rebase_merge` one only if a fast-forward were possible, `ff` fast-forwards',
  });
const squashOption = () =>
  Type.Enum(['never', 'always', 'default_on', 'default_off'], {
    description: 'Whether merge requests are squashed; with `default_on` and `default_off` each of them decides',
  });

const switches = {
  only_allow_merge_if_pipeline_succeeds: 'Whether the commit statuses of the head must have succeeded',
  only_allow_merge_if_all_discussions_are_resolved: 'Whether all threads must be resolved',
  remove_source_branch_after_merge: 'Whether clients preselect that a new merge request removes its source branch',
  resolve_outdated_diff_discussions: 'Whether threads on lines that a push changes are resolved',
  printing_merge_request_link_enabled:
    'Whether a push of a branch is answered with the address at which to create a merge request',
  autoclose_referenced_issues:
    'Whether merging into the default branch closes the issues that texts and commits say it closes',
} as const;
type Switch = keyof typeof switches;

/** The maximum lengths of templates, in characters. */
const templates = { suggestion_commit_message: 255, merge_commit_template: 500, squash_commit_template: 500 } as const;
type Template = keyof typeof templates;

const template = (longest: number) =>
  checked(nullable(Type.String()), (text) =>
    text !== null && [...text].length > longest ? [`is too long (maximum is ${longest} characters)`] : [],
  );

const skipped = () => nullable(Type.Boolean({ description: 'Whether skipped commit statuses count as successful' }));
const newText = () =>
  nullable(Type.String({ description: 'What clients offer as the description of a new merge request' }));

function each<Name extends string, V, S extends TSchema>(
  all: Readonly<Record<Name, V>>,
  schema: (value: V) => S,
): Record<Name, S> {
  return Object.fromEntries(Object.entries<V>(all).map(([name, value]) => [name, schema(value)])) as Record<Name, S>;
}

const flag = (description: string) => Type.Boolean({ description });

/** The parameters. */
export const mergeSettings = {
  merge_method: optional(mergeMethod()),
  squash_option: optional(squashOption()),
  ...each(switches, (description) => optional(flag(description))),
  allow_merge_on_skipped_pipeline: optional(skipped()),
  ...each(templates, (longest) => optional(template(longest))),
  merge_requests_template: optional(since('premium', newText())),
};

/** The fields of a project. */
export const mergeFields = {
  merge_method: mergeMethod(),
  squash_option: squashOption(),
  ...each(switches, flag),
  allow_merge_on_skipped_pipeline: skipped(),
  ...each(templates, () => nullable(Type.String())),
  merge_requests_template: since('premium', newText()),
};

export type MergeSettings = Static<TObject<typeof mergeSettings>>;

/** The columns of a row of `projects`. */
export type MergeColumns = { merge_method: string; squash_option: string } & Record<Switch, boolean> &
  Record<Template | 'merge_requests_template', string | null> & { allow_merge_on_skipped_pipeline: boolean | null };

/** @param project a row with the settings */
export function presentMergeSettings(project: MergeColumns): Static<TObject<typeof mergeFields>> {
  const names = Object.keys(mergeFields) as (keyof MergeColumns)[];
  return Object.fromEntries(names.map((name) => [name, project[name]])) as Static<TObject<typeof mergeFields>>;
}

/** The columns of the given settings; an empty template is stored as null. */
export const columnsOfMergeSettings = (given: MergeSettings): MergeSettings =>
  Object.fromEntries(
    Object.entries(given)
      .filter(([name, value]) => name in mergeSettings && value !== undefined)
      .map(([name, value]) => [name, value === '' ? null : value]),
  );
