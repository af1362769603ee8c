/** What other areas may use of mirrors. */
export { mirrorFollower } from './actions.ts';
export { pullMirror, pushMirror, schedulePulls } from './jobs.ts';
export { tellOfMirrorFailure } from './mail_jobs.ts';
export { projectMirrorInput } from './parameters.ts';
export { type ProjectMirrorRow, presentProjectMirror, projectMirrorFields, projectMirrorJson } from './present.ts';
export { importIn, mirrorChangeIn } from './pull_actions.ts';
export { brokenMirrors } from './queries.ts';
