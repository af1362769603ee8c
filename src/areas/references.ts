/**
 * What happens to references when things move (docs/architecture.md#what-points-to-what): one entry for each foreign key to a label, milestone, iteration, epic, environment, board,
 * issue or user, named `table.column`. A test compares the entries with the schema, and another has a case for each of them.
 *
 * Two events need no entries: a promotion moves all references to the label or milestone, and a deletion does what the foreign key says.
 */

/** A reference that keeps what it names, and why nobody learns more from it than they may. */
type Stays = `stays: ${string}`;

/** The entries of some keys. */
const each = <Fate extends string>(fate: Fate, ...keys: string[]): Record<string, Fate> =>
  Object.fromEntries(keys.map((key) => [key, fate]));

/**
 * What a reference of a transferred project or group names afterwards, where it named something of a group that was left: `copy` the available label or milestone of the same title,
 * which is created if there is none; `follow` the same, but only if there is one. Otherwise, and for `release`, the reference ends as if what it names were deleted.
 * `release outside of groups` does so in projects that have come into a personal namespace, whatever group is named.
 */
export type AtTransfer = 'copy' | 'follow' | 'release' | 'release outside of groups' | Stays;

export const atTransfer = {
  labels: {
    ...each(
      'copy',
      'board_labels.label_id',
      'board_lists.label_id',
      'epic_labels.label_id',
      'issue_labels.label_id',
      'label_priorities.label_id',
      'merge_request_labels.label_id',
    ),
    'resource_label_events.label_id': 'follow',
    'subscriptions.label_id': 'stays: it is of a user, and shows the label to nobody else',
  },
  milestones: {
    ...each(
      'copy',
      'board_lists.milestone_id',
      'boards.milestone_id',
      'issues.milestone_id',
      'merge_requests.milestone_id',
      'release_milestones.milestone_id',
    ),
    'resource_milestone_events.milestone_id': 'follow',
  },
  iterations: each(
    'release',
    'board_lists.iteration_id',
    'boards.iteration_id',
    'issues.iteration_id',
    'resource_iteration_events.iteration_id',
  ),
  epics: {
    ...each(
      'stays: it is a part of the epic, which does not leave its group',
      'award_emoji.epic_id',
      'epic_labels.epic_id',
      'notes.epic_id',
      'resource_label_events.epic_id',
      'resource_state_events.epic_id',
      'subscriptions.epic_id',
      'todos.epic_id',
      'user_mentions.epic_id',
    ),
    ...each(
      'stays: epics of any two groups can be related, and readers are shown those that they can read',
      'epic_links.source_id',
      'epic_links.target_id',
      'epics.parent_id',
    ),
    'notes.refers_to_epic_id': 'stays: only readers of the epic are shown the note',
    'epic_issues.epic_id': 'release outside of groups',
  },
  environments: each(
    'stays: an environment and what is deployed to it are of one project',
    'deployment_merge_requests.environment_id',
    'deployments.environment_id',
  ),
  boards: each('stays: it is a part of the board', 'board_labels.board_id', 'board_lists.board_id'),
} as const satisfies Record<string, Readonly<Record<string, AtTransfer>>>;

/**
 * What a moved issue gets of the rows that name the original, and of what the original names: `copy` each row; `copy with its texts` the same, with texts whose references
 * and uploads are those of the new project; `by title` labels and milestones of the new project; `if it can be used` there.
 */
export type AtMove = 'copy' | 'copy with its texts' | 'by title' | 'if it can be used' | Stays;

export const atMove: Readonly<Record<string, AtMove>> = {
  ...each(
    'copy',
    'award_emoji.issue_id',
    'issue_links.source_id',
    'issue_links.target_id',
    'subscriptions.issue_id',
    'timelogs.issue_id',
    'user_mentions.issue_id',
  ),
  'notes.issue_id': 'copy with its texts',
  'issue_labels.issue_id': 'by title',
  'issues.milestone_id': 'by title',
  'issues.iteration_id': 'if it can be used',
  'issue_assignees.issue_id': 'if it can be used',
  ...each(
    'stays: the history and the images are those of the original',
    'issue_metric_images.issue_id',
    'issue_user_agents.issue_id',
    'resource_iteration_events.issue_id',
    'resource_label_events.issue_id',
    'resource_milestone_events.issue_id',
    'resource_state_events.issue_id',
    'resource_weight_events.issue_id',
  ),
  ...each(
    'stays: it names the original, which is closed and names the new issue',
    'epic_issues.issue_id',
    'error_tracking_errors.issue_id',
    'issues.duplicated_to_id',
    'issues.moved_to_id',
    'merge_request_closed_issues.issue_id',
    'notes.refers_to_issue_id',
    'todos.issue_id',
  ),
};

/** What happens to references to users who lose a group or project: `ends` in the same transaction, or `ends if asked` with `unassign_issuables`. */
export type AtLeaving = 'ends' | 'ends if asked' | Stays;

export const atLeaving: Readonly<Record<string, AtLeaving>> = {
  ...each(
    'ends',
    'approval_rule_users.user_id',
    'group_authorizations.user_id',
    'invitations.created_by_id',
    'member_approvals.user_id',
    'members.user_id',
    'project_authorizations.user_id',
    'protected_branch_access_levels.user_id',
    'protected_environment_rules.user_id',
  ),
  ...each(
    'ends if asked',
    'issue_assignees.user_id',
    'merge_request_assignees.user_id',
    'merge_request_reviewers.user_id',
  ),
  ...each(
    'stays: it says what they did there',
    'award_emoji.user_id',
    'clusters.user_id',
    'commit_statuses.user_id',
    'compliance_violations.violating_user_id',
    'deployment_approvals.user_id',
    'deployments.user_id',
    'epics.author_id',
    'epics.closed_by_id',
    'error_tracking_bundles.user_id',
    'error_tracking_errors.resolved_by_id',
    'events.author_id',
    'issues.author_id',
    'issues.closed_by_id',
    'keys.created_by_id',
    'ldap_group_links.created_by_id',
    'member_approvals.requested_by_id',
    'member_approvals.reviewed_by_id',
    'members.created_by_id',
    'members_by_hand.created_by_id',
    'merge_request_approvals.user_id',
    'merge_requests.author_id',
    'merge_requests.closed_by_id',
    'merge_requests.merge_user_id',
    'notes.author_id',
    'notes.resolved_by_id',
    'pipelines.user_id',
    'placeholders.proposed_by_id',
    'projects.creator_id',
    'reference_updates.user_id',
    'releases.author_id',
    'resource_iteration_events.user_id',
    'resource_label_events.user_id',
    'resource_milestone_events.user_id',
    'resource_state_events.user_id',
    'resource_weight_events.user_id',
    'runners.created_by_id',
    'saml_group_links.created_by_id',
    'snippets.author_id',
    'timelogs.user_id',
    'todos.author_id',
    'uploads.user_id',
    'vulnerability_state_changes.user_id',
  ),
  ...each(
    'stays: members choose anew whom it names',
    'board_lists.user_id',
    'boards.assignee_id',
    'error_tracking_errors.assignee_id',
    'lfs_locks.user_id',
    'terraform_states.locked_by_id',
  ),
  ...each(
    'stays: it is used only while they have the right',
    'bulk_import_entities.user_id',
    'bulk_imports.user_id',
    'dependency_list_exports.user_id',
    'merge_request_draft_notes.author_id',
    'merge_requests.auto_merge_user_id',
    'notification_recipients.user_id',
    'pipeline_schedules.owner_id',
    'pipeline_triggers.owner_id',
    'pull_mirrors.user_id',
    'relation_exports.user_id',
    'todos.user_id',
    'user_mentions.user_id',
  ),
  ...each(
    'stays: it is of their account, or a choice of theirs',
    'access_requests.user_id',
    'access_token_bots.user_id',
    'board_collapsed_lists.user_id',
    'claimed_emails.user_id',
    'custom_attributes.user_id',
    'declined_invitations.inviter_id',
    'emails.user_id',
    'error_tracking_chunks.user_id',
    'gpg_keys.user_id',
    'keys.user_id',
    'merge_request_viewed_files.user_id',
    'merge_request_visits.user_id',
    'namespaces.owner_id',
    'notification_counts.user_id',
    'notification_settings.user_id',
    'oauth_applications.user_id',
    'oauth_codes.user_id',
    'oauth_consents.user_id',
    'oauth_device_codes.user_id',
    'oauth_tokens.user_id',
    'password_links.user_id',
    'pending_sign_ins.user_id',
    'personal_access_tokens.user_id',
    'placeholders.assignee_id',
    'placeholders.proposed_user_id',
    'placeholders.user_id',
    'project_stars.user_id',
    'recovery_codes.user_id',
    'saved_views.user_id',
    'saml_sessions.user_id',
    'service_accounts.user_id',
    'snippets.user_id',
    'subscriptions.user_id',
    'totp_factors.user_id',
    'user_follows.followed_id',
    'user_follows.follower_id',
    'user_identities.user_id',
    'user_statuses.user_id',
    'users.created_by_id',
    'web_sessions.user_id',
    'webauthn_credentials.user_id',
  ),
};
