/** The events that cause mail: the texts and the recipients (docs/reference/notifications.md). */

/** Why a user receives a message: the first reason that applies. */
export type Reason = 'own_activity' | 'assigned' | 'review_requested' | 'mentioned' | 'subscribed';

interface MailEvent {
  /**
   * The verb for the actor's action, before the name of the item. Events without it never happen; clients may still
   * select them.
   */
  did?: string;
  /** Whether the level `watch` includes it. */
  watched?: true;
  /** Whether the level `custom` can select it, in projects and groups alike. */
  is_setting?: true;
  /** Whether participants at the level `custom` receive it only if they selected it. */
  is_chosen?: true;
  /** Whether only users at the level `custom` who selected it receive it. */
  is_only_chosen?: true;
  /** Whether it starts a thread of mail. */
  starts?: true;
  /** The only users who are notified, if the event has such a restriction. */
  names?: 'mentioned' | 'subscribed' | 'concerned' | 'members';
  /** The activity events that cause it. */
  records?: { action: string; types: readonly string[] };
}

/** Settings are listed in this order. */
const events = {
  new_release: { did: 'published', is_setting: true, starts: true },
  new_note: {
    did: 'commented on',
    watched: true,
    is_setting: true,
    records: { action: 'commented', types: ['Note', 'DiffNote', 'DiscussionNote'] },
  },
  new_issue: {
    did: 'created',
    watched: true,
    is_setting: true,
    starts: true,
    records: { action: 'created', types: ['Issue'] },
  },
  reopen_issue: { did: 'reopened', watched: true, is_setting: true, records: { action: 'reopened', types: ['Issue'] } },
  close_issue: { did: 'closed', watched: true, is_setting: true, records: { action: 'closed', types: ['Issue'] } },
  move_issue: { did: 'moved' },
  reassign_issue: { did: 'changed the assignees of', watched: true, is_setting: true },
  issue_due: { did: 'is due tomorrow', is_setting: true },
  new_merge_request: {
    did: 'created',
    watched: true,
    is_setting: true,
    starts: true,
    records: { action: 'created', types: ['MergeRequest'] },
  },
  push_to_merge_request: { did: 'pushed to', is_setting: true },
  reopen_merge_request: {
    did: 'reopened',
    watched: true,
    is_setting: true,
    records: { action: 'reopened', types: ['MergeRequest'] },
  },
  close_merge_request: {
    did: 'closed',
    watched: true,
    is_setting: true,
    records: { action: 'closed', types: ['MergeRequest'] },
  },
  reassign_merge_request: { did: 'changed the assignees of', watched: true, is_setting: true },
  change_reviewer_merge_request: { did: 'changed the reviewers of', watched: true, is_setting: true },
  merge_merge_request: {
    did: 'merged',
    watched: true,
    is_setting: true,
    records: { action: 'merged', types: ['MergeRequest'] },
  },
  failed_pipeline: { did: 'has failed', is_setting: true, starts: true, is_chosen: true },
  fixed_pipeline: { did: 'has been fixed', is_setting: true, starts: true, is_chosen: true },
  success_pipeline: { did: 'has succeeded', is_setting: true, starts: true, is_only_chosen: true },
  moved_project: {
    did: 'moved',
    is_setting: true,
    names: 'members',
    records: { action: 'transferred', types: ['Project'] },
  },
  merge_when_pipeline_succeeds: { did: 'enabled the automatic merge of', watched: true, is_setting: true },
  new_error: { did: 'is new', watched: true, is_setting: true, starts: true },
  regressed_error: { did: 'happens again', watched: true, is_setting: true },
  error_alert: { did: 'happens too often', watched: true, is_setting: true, names: 'members' },
  new_vulnerability: { did: 'was found', watched: true, is_setting: true, starts: true },
  approve_merge_request: { did: 'approved', watched: true, records: { action: 'approved', types: ['MergeRequest'] } },
  ready_merge_request: { did: 'ended the draft of', watched: true },
  conflict_merge_request: { did: 'has conflicts with its target branch', names: 'concerned' },
  // Epics belong to groups, so only group settings have this event.
  new_epic: { did: 'created', watched: true, starts: true, records: { action: 'created', types: ['Epic'] } },
  reopen_epic: { did: 'reopened', watched: true, records: { action: 'reopened', types: ['Epic'] } },
  close_epic: { did: 'closed', watched: true, records: { action: 'closed', types: ['Epic'] } },
  milestone: { did: 'changed the milestone of' },
  label: { did: 'added a label to', names: 'subscribed' },
  mention: { did: 'mentioned you in', names: 'mentioned' },
} as const satisfies Record<string, MailEvent>;

export const mailEvents: Readonly<Record<string, MailEvent>> = events;

type Setting = {
  [E in keyof typeof events]: (typeof events)[E] extends { is_setting: true } ? E : never;
}[keyof typeof events];

/** The events that the level `custom` can turn on. */
export const eventSettings = Object.keys(events).filter((event) => mailEvents[event]!.is_setting) as Setting[];

const whys: Readonly<Record<Reason, string>> = {
  own_activity: 'you want to be told of what you do yourself',
  assigned: 'it is assigned to you',
  review_requested: 'your review was requested',
  mentioned: 'you were mentioned',
  subscribed: 'you subscribed to it',
};

/** The end of the sentence that states why a user receives a message. */
export const wordsFor = (reason: Reason | null): string =>
  reason === null ? 'of your notification settings' : whys[reason];
