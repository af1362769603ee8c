/** Rules of runners (docs/reference/runners.md). */
import { isLonger, tooLong } from '../../../texts/index.ts';

export const accessLevels = ['not_protected', 'ref_protected'] as const;

/** The manager of runners that do not say which machine they are on. */
export const legacySystem = 'legacy';
export const systemPattern = '^[A-Za-z0-9_-]{1,64}$';

export const maximumManagers = 1000;

const maximumTags = 50;
const maximumTag = 255;
const maximumText = 1024;
const minimumTimeout_s = 600;

/** What can be set of a runner. */
export interface RunnerSettings {
  description: string;
  maintenance_note: string | null;
  paused: boolean;
  locked: boolean;
  access_level: (typeof accessLevels)[number];
  run_untagged: boolean;
  tag_list: readonly string[];
  maximum_timeout: number | null;
}

export const usualSettings: RunnerSettings = {
  description: '',
  maintenance_note: null,
  paused: false,
  locked: false,
  access_level: 'not_protected',
  run_untagged: true,
  tag_list: [],
  maximum_timeout: null,
};

export const texts = {
  untagged: 'can not be empty when runner is not allowed to pick untagged jobs',
  timeout: 'needs to be at least 10 minutes',
  tags: `Too many tags specified. Please limit the number of tags to ${maximumTags}`,
  long: `is too long (maximum is ${maximumText} characters)`,
  longTag: `is too long (maximum is ${maximumTag} characters)`,
};

/** The reasons as endpoints declare them. */
export const settingTexts = [
  ...[texts.untagged, texts.tags, texts.longTag].map((text) => `tags_list: ${text}`),
  `maximum_timeout: ${texts.timeout}`,
  `description: ${texts.long}`,
  `maintenance_note: ${texts.long}`,
];

/** Tags as they are kept: each once, sorted. */
export const orderedTags = (tags: readonly string[]): string[] =>
  [...new Set(tags.map((tag) => tag.trim()))].filter((tag) => tag !== '').toSorted();

function tagReasons({ run_untagged, tag_list }: RunnerSettings): string[] {
  if (!run_untagged && tag_list.length === 0) return [texts.untagged];
  if (tag_list.length > maximumTags) return [texts.tags];
  return tag_list.some((tag) => isLonger(tag, maximumTag)) ? [texts.longTag] : [];
}

/** The reasons against the settings of a runner, by field. */
export function settingReasons(settings: RunnerSettings): Record<string, string[]> {
  const { description, maintenance_note, maximum_timeout } = settings;
  const fields = {
    description: tooLong(description, maximumText),
    maintenance_note: tooLong(maintenance_note ?? '', maximumText),
    tags_list: tagReasons(settings),
    maximum_timeout: maximum_timeout !== null && maximum_timeout < minimumTimeout_s ? [texts.timeout] : [],
  };
  return Object.fromEntries(Object.entries(fields).filter(([, reasons]) => reasons.length > 0));
}
