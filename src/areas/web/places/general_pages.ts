/** General settings of projects: what they are called, who sees them, and which features they have. */
import { formOf, settingsPage } from '../declared/definition.ts';
import { choicesOf, formPart, reading } from '../declared/form_present.ts';
import { featureWords, visibilityWords } from './level_rules.ts';

const project = reading('getProject');

const general = formPart('general', {
  ...formOf(
    'updateProject',
    {
      name: {},
      description: { kind: 'area', is_clearable: true },
      topics: { help: 'Separated by commas.' },
      default_branch: { choices: choicesOf('listBranches', { value: 'name', label: 'name' }) },
    },
    { button: 'Save changes' },
  ),
  reads: project,
});

const picture = formPart('picture', {
  ...formOf(
    'updateProject',
    { avatar: { label: 'Picture', help: 'A PNG, JPEG, GIF or WebP file of at most 200 KiB.' } },
    { button: 'Upload', heading: 'Picture' },
  ),
});

const pictureRemoval = formPart('remove_picture', {
  ...formOf(
    'updateProject',
    {},
    { button: 'Remove the picture', look: 'danger', parameters: { avatar: null }, done: 'The picture is removed.' },
  ),
  reads: project,
  isShown: ({ avatar_url }) => avatar_url !== null,
});

export const generalPage = settingsPage('project', 'general', [general, picture, pictureRemoval]);

const feature = (label: string) => ({ label, words: featureWords });

export const featuresPage = settingsPage('project', 'features', [
  formPart('features', {
    ...formOf(
      'updateProject',
      {
        visibility: { words: visibilityWords },
        request_access_enabled: { label: 'People can ask for access' },
        issues_access_level: feature('Issues'),
        repository_access_level: feature('Repository'),
        merge_requests_access_level: feature('Merge requests'),
        forking_access_level: feature('Forks'),
        wiki_access_level: feature('Wiki'),
        snippets_access_level: feature('Snippets'),
        builds_access_level: feature('Pipelines and jobs'),
        environments_access_level: feature('Environments'),
        releases_access_level: feature('Releases'),
        feature_flags_access_level: feature('Feature flags'),
        public_jobs: { label: 'Guests may read pipelines and jobs', help: undefined },
        lfs_enabled: { label: 'Large files (LFS)' },
        emails_enabled: { label: 'Mail about what happens here' },
        enforce_auth_checks_on_uploads: {
          label: 'Uploaded pictures only for those who see the project',
          help: undefined,
        },
        issues_template: { kind: 'area', label: 'Template for new issues' },
        dependency_paths: { label: 'Paths of dependency files' },
      },
      { button: 'Save changes' },
    ),
    reads: project,
  }),
]);

const mergeSettings = formOf(
  'updateProject',
  {
    merge_method: {
      words: { merge: 'Merge commit', rebase_merge: 'Merge commit, if it could fast-forward', ff: 'Fast-forward only' },
      help: undefined,
    },
    squash_option: {
      label: 'Squashing',
      words: {
        default_off: 'As the merge request says, by default not',
        default_on: 'As the merge request says, by default yes',
        always: 'Always',
        never: 'Never',
      },
      help: undefined,
    },
    only_allow_merge_if_pipeline_succeeds: { label: 'Only merge when the pipeline has passed', help: undefined },
    allow_merge_on_skipped_pipeline: { label: 'Skipped pipelines count as passed', help: undefined },
    only_allow_merge_if_all_discussions_are_resolved: {
      label: 'Only merge when all threads are resolved',
      help: undefined,
    },
    resolve_outdated_diff_discussions: { label: 'Resolve threads on lines that a push changes', help: undefined },
    remove_source_branch_after_merge: { label: 'Delete the source branch by default', help: undefined },
    autoclose_referenced_issues: { label: 'Close issues that a merge request says it closes', help: undefined },
    printing_merge_request_link_enabled: {
      label: 'Answer a push with a link to create a merge request',
      help: undefined,
    },
    merge_requests_template: { kind: 'area', label: 'Template for new merge requests' },
    merge_commit_template: { kind: 'area', label: 'Message of merge commits' },
    squash_commit_template: { kind: 'area', label: 'Message of squashed commits' },
    suggestion_commit_message: { label: 'Message of applied suggestions' },
  },
  { button: 'Save changes' },
);

export const mergeRequestSettingsPage = settingsPage('project', 'merge_requests', [
  formPart('merge_requests', { ...mergeSettings, reads: project }),
]);
