/** Parameters shared by push and pull mirrors. */
import { Type } from 'typebox';
import { checked, Id, nullable, optional, since } from '../../../http/index.ts';
import { tooLong } from '../../../texts/index.ts';
import { hostKeyIn, maximumLengths } from './rules.ts';

export const MirrorUrl = checked(
  Type.String({ description: 'http, https, ssh or git; may have user and password' }),
  (url) => tooLong(url, maximumLengths.url),
);

export const BranchRegex = optional(
  checked(nullable(Type.String({ description: 'Which branches, in RE2 syntax' })), (regex) =>
    tooLong(regex ?? '', maximumLengths.regex),
  ),
);

export const HostKeys = optional(
  checked(
    Type.Array(Type.String(), {
      maxItems: 20,
      description: 'Lines of `known_hosts`, for `ssh`; without any, the first key that is seen is pinned',
    }),
    (lines) => (lines.every((line) => hostKeyIn(line) !== undefined) ? [] : ['is invalid']),
  ),
);

const ImportUrl = optional(
  checked(
    nullable(
      Type.String({ description: 'The repository that a new project is filled from, or with `mirror` pulled from' }),
    ),
    (url) => tooLong(url ?? '', maximumLengths.url),
  ),
);

/** The parameters of projects for their pull mirror. */
export const projectMirrorInput = {
  import_url: ImportUrl,
  mirror: optional(since('premium', Type.Boolean({ description: 'Whether the project follows `import_url`' }))),
  mirror_user_id: optional(
    since(
      'premium',
      Type.Integer({ ...Id, description: 'Whose changes they are; oneself, unless an administrator sets it' }),
    ),
  ),
  mirror_trigger_builds: optional(
    since('premium', Type.Boolean({ description: 'Whether what is pulled starts pipelines' })),
  ),
  only_mirror_protected_branches: optional(since('premium', Type.Boolean())),
  mirror_overwrites_diverged_branches: optional(since('premium', Type.Boolean())),
  mirror_branch_regex: since('premium', BranchRegex),
};
