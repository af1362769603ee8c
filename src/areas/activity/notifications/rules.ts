/** What mail says of each event, and who watches it (docs/reference/notifications.md). */

/** Why users get a message: the first that applies. */
export type Reason = 'own_activity' | 'assigned' | 'review_requested' | 'mentioned' | 'subscribed';

interface EventRule {
  /** What the actor did, before the name of the item. */
  did: string;
  /** Whether the level `watch` includes it. */
  watched: boolean;
  /** Whom it is told to, if that is nobody else: those who are named, or all members. */
  names?: 'mentioned' | 'subscribed' | 'concerned' | 'members';
}

const watched = (did: string): EventRule => ({ did, watched: true });

export const eventRules: Readonly<Record<string, EventRule>> = {
  new_note: watched('commented on'),
  new_issue: watched('created'),
  close_issue: watched('closed'),
  move_issue: { did: 'moved', watched: false },
  reopen_issue: watched('reopened'),
  reassign_issue: watched('changed the assignees of'),
  new_merge_request: watched('created'),
  push_to_merge_request: { did: 'pushed to', watched: false },
  close_merge_request: watched('closed'),
  reopen_merge_request: watched('reopened'),
  merge_merge_request: watched('merged'),
  approve_merge_request: watched('approved'),
  reassign_merge_request: watched('changed the assignees of'),
  change_reviewer_merge_request: watched('changed the reviewers of'),
  merge_when_pipeline_succeeds: watched('enabled the automatic merge of'),
  ready_merge_request: watched('ended the draft of'),
  conflict_merge_request: { did: 'has conflicts with its target branch', watched: false, names: 'concerned' },
  new_epic: watched('created'),
  close_epic: watched('closed'),
  issue_due: { did: 'is due tomorrow', watched: false },
  milestone: { did: 'changed the milestone of', watched: false },
  label: { did: 'added a label to', watched: false, names: 'subscribed' },
  mention: { did: 'mentioned you in', watched: false, names: 'mentioned' },
  reopen_epic: watched('reopened'),
  new_error: watched('is new'),
  regressed_error: watched('happens again'),
  error_alert: { did: 'happens too often', watched: true, names: 'members' },
  new_vulnerability: watched('was found'),
  moved_project: { did: 'moved', watched: false, names: 'members' },
};

/** Those that begin a thread of mail. */
export const isFirst = (event: string): boolean =>
  ['new_issue', 'new_merge_request', 'new_epic', 'new_error', 'new_vulnerability'].includes(event);

const whys: Readonly<Record<Reason, string>> = {
  own_activity: 'you want to be told of what you do yourself',
  assigned: 'it is assigned to you',
  review_requested: 'your review was requested',
  mentioned: 'you were mentioned',
  subscribed: 'you subscribed to it',
};

/** The end of the sentence that says why a user gets a message. */
export const wordsFor = (reason: Reason | null): string => (reason === null ? 'of your notification settings' : whys[reason]);
