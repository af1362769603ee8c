/** The interface of releases to other districts. */
export { releaseEvent, sampleRelease } from './hook_actions.ts';
export { prepareReleaseOfJob } from './job_actions.ts';
export { collectDueEvidence } from './jobs.ts';
export { releaseMail } from './mail_queries.ts';
export { Release, releasePage } from './present.ts';
export { releaseFollower } from './push_actions.ts';
export { releasesOfTags } from './queries.ts';
export { releases } from './relation.ts';
