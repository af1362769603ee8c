/** The controls of frameworks (docs/reference/compliance_frameworks.md#controls). Pure functions. */

/** What is known of a project, as far as controls ask. */
export interface ProjectFacts {
  default_branch: string;
  /** Of the default branch, by all protections that match it. */
  is_protected: boolean;
  allows_force_push: boolean;
  /** The highest number of approvals that a rule for the default branch requires. */
  approvals_required: number;
  authors_approve: boolean;
  committers_approve: boolean;
  resets_approvals: boolean;
  prevents_secrets: boolean;
  rejects_unsigned: boolean;
  open_critical: number;
  has_dependencies: boolean;
  visibility: string;
  needs_pipeline: boolean;
  tracks_errors: boolean;
}

/** A control: what a project has to do, where that is changed, and whether it does. */
export interface Control {
  name: string;
  /** What it asks for, for whoever chooses it. */
  label: string;
  sentence(facts: ProjectFacts): string;
  /** The page that changes it, below the project. */
  page: string;
  isPassed(facts: ProjectFacts): boolean;
}

const settings = '/-/settings';

const approvals = (least: number): Control => ({
  name: `minimum_approvals_required_${least}`,
  label: least === 1 ? 'Merge requests need an approval' : `Merge requests need ${least} approvals`,
  sentence: () => `Require at least ${least === 1 ? 'one approval' : `${least} approvals`} of merge requests.`,
  page: `${settings}/approvals`,
  isPassed: ({ approvals_required }) => approvals_required >= least,
});

const all: readonly Control[] = [
  {
    name: 'default_branch_protected',
    label: 'The default branch is protected',
    sentence: ({ default_branch }) => `Protect the branch ${default_branch}.`,
    page: `${settings}/protected_branches`,
    isPassed: ({ is_protected }) => is_protected,
  },
  {
    name: 'default_branch_no_force_push',
    label: 'Nobody can force-push to the default branch',
    sentence: ({ default_branch }) => `Protect the branch ${default_branch} against force pushes.`,
    page: `${settings}/protected_branches`,
    isPassed: ({ is_protected, allows_force_push }) => is_protected && !allows_force_push,
  },
  approvals(1),
  approvals(2),
  {
    name: 'merge_request_prevent_author_approval',
    label: 'Authors do not approve their own merge requests',
    sentence: () => 'Do not let authors approve their own merge requests.',
    page: `${settings}/approvals`,
    isPassed: ({ authors_approve }) => !authors_approve,
  },
  {
    name: 'merge_request_prevent_committers_approval',
    label: 'People who have added commits do not approve',
    sentence: () => 'Do not let people approve merge requests to which they have added commits.',
    page: `${settings}/approvals`,
    isPassed: ({ committers_approve }) => !committers_approve,
  },
  {
    name: 'reset_approvals_on_push',
    label: 'New commits remove approvals',
    sentence: () => 'Remove approvals when commits are added.',
    page: `${settings}/approvals`,
    isPassed: ({ resets_approvals }) => resets_approvals,
  },
  {
    name: 'push_rules_secrets_prevented',
    label: 'Files that are likely to be secrets cannot be pushed',
    sentence: () => 'Refuse pushes of files that are likely to be secrets.',
    page: `${settings}/push_rules`,
    isPassed: ({ prevents_secrets }) => prevents_secrets,
  },
  {
    name: 'signed_commits_required',
    label: 'Commits are signed',
    sentence: () => 'Refuse pushes of commits that are not signed.',
    page: `${settings}/push_rules`,
    isPassed: ({ rejects_unsigned }) => rejects_unsigned,
  },
  {
    name: 'no_open_critical_vulnerabilities',
    label: 'No critical vulnerability is open',
    // Without their number, which people with a lower role than Developer do not learn.
    sentence: () => 'Resolve or dismiss the open critical vulnerabilities.',
    page: '/-/security/vulnerabilities',
    isPassed: ({ open_critical }) => open_critical === 0,
  },
  {
    name: 'dependencies_scanned',
    label: 'The dependencies are known',
    sentence: () => 'Push a file that names the dependencies, in a format that is read.',
    page: '/-/dependencies',
    isPassed: ({ has_dependencies }) => has_dependencies,
  },
  {
    name: 'project_visibility_not_public',
    label: 'The project is not public',
    sentence: () => 'Make the project private or internal.',
    page: `${settings}/features`,
    isPassed: ({ visibility }) => visibility !== 'public',
  },
  {
    name: 'pipeline_must_succeed',
    label: 'Only what has passed its pipeline is merged',
    sentence: () => 'Only merge when the pipeline has passed.',
    page: `${settings}/merge_requests`,
    isPassed: ({ needs_pipeline }) => needs_pipeline,
  },
  {
    name: 'error_tracking_enabled',
    label: 'Error tracking is on',
    sentence: () => 'Switch error tracking on.',
    page: `${settings}/operations`,
    isPassed: ({ tracks_errors }) => tracks_errors,
  },
];

export const controls: ReadonlyMap<string, Control> = new Map(all.map((control) => [control.name, control]));
