/** The interface of mirrors to other districts. */
export { mirrorFollower } from './actions.ts';
export { pullMirror, pushMirror, schedulePulls } from './jobs.ts';
export { tellOfMirrorFailure } from './mail_jobs.ts';
export { projectMirrorInput } from './parameters.ts';
export {
  type ProjectMirrorRow,
  PullMirror,
  presentProjectMirror,
  projectMirrorFields,
  projectMirrorJson,
  RemoteMirror,
} from './present.ts';
export { importIn, mirrorChangeIn } from './pull_actions.ts';
export { brokenMirrors } from './queries.ts';
