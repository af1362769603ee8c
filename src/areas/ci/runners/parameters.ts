/** The parameters with which runners are made and changed, and with which they speak of themselves. */
import { type Static, type TObject, Type } from 'typebox';
import { CommaList, deprecated, mutuallyExclusive, nullable, optional } from '../../../http/index.ts';
import { accessLevels, orderedTags, type RunnerSettings, systemPattern } from './rules.ts';

const largest = 2 ** 31 - 1;

/** The settings of a runner, each of which may be left out. */
export const settingParameters = {
  description: optional(Type.String({ description: 'At most 1,024 characters' })),
  active: optional(deprecated('use `paused`, which is its opposite', Type.Boolean())),
  paused: optional(Type.Boolean({ description: 'Whether it takes no new jobs' })),
  tag_list: optional(CommaList(Type.String({ description: 'Jobs with tags are for runners that have all of them' }))),
  run_untagged: optional(Type.Boolean({ description: 'Whether it takes jobs without tags' })),
  locked: optional(Type.Boolean({ description: 'Whether it cannot be assigned to further projects' })),
  access_level: optional(
    Type.Enum([...accessLevels], { description: '`ref_protected`: only jobs of protected branches and tags' }),
  ),
  maximum_timeout: optional(
    nullable(
      Type.Integer({ minimum: 0, maximum: largest, description: 'Seconds that a job may take on it; at least 600' }),
    ),
  ),
  maintenance_note: optional(nullable(Type.String({ description: 'At most 1,024 characters' }))),
};

export const settingRules = [mutuallyExclusive('active', 'paused')];

type Given = Static<TObject<typeof settingParameters>>;

/** The settings among parameters that were given, with the usual names. */
export function settingsIn(given: Given): Partial<RunnerSettings> {
  const { active, paused, tag_list } = given;
  const settings = {
    description: given.description,
    maintenance_note: given.maintenance_note,
    paused: active === undefined ? paused : !active,
    locked: given.locked,
    access_level: given.access_level,
    run_untagged: given.run_untagged,
    tag_list: tag_list && orderedTags(tag_list),
    maximum_timeout: given.maximum_timeout,
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

/** What a runner says of the program that it is; other members are ignored. */
const Info = Type.Object({
  version: optional(Type.String()),
  revision: optional(Type.String()),
  platform: optional(Type.String()),
  architecture: optional(Type.String()),
});
export type RunnerInfo = Static<typeof Info>;

/** The token may also be in the header `RUNNER-TOKEN`. */
export const tokenParameter = { token: Type.String({ description: 'Or in the header `RUNNER-TOKEN`' }) };

/** The machine that a runner is on. */
export const SystemId = Type.String({ pattern: systemPattern });

/** What a runner sends with each call. */
export const managerParameters = {
  ...tokenParameter,
  system_id: optional(SystemId),
  info: optional(Info),
};

export const registrationParameters = {
  token: Type.String({ description: 'The registration token of the instance, a group or a project' }),
  ...settingParameters,
  info: optional(Info),
};
