/** The shapes of `environment` and `release`. */
import { durationOf } from '../durations.ts';
import type { JobEnvironment, Release } from '../types.ts';
import { isList, isMapping } from '../values.ts';
import {
  attribute,
  entry,
  filledText,
  mapped,
  mappingOr,
  oneOf,
  record,
  type Shape,
  text,
  textOfAtMost,
  textOrTexts,
} from './shape.ts';

const maximum_chars = 255;
const nameCharacters =
  "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'";

const environmentName: Shape<string> = (value, at) => {
  if (filledText(value, at) === undefined) return undefined;
  const name = textOfAtMost(maximum_chars)(value, at);
  if (name === undefined) return undefined;
  const isGood = /^[a-zA-Z0-9_/${}. -]+$/.test(name) && !name.startsWith('/') && !name.endsWith('/');
  return isGood ? name : at.fault(nameCharacters);
};

/** A duration may be in a variable, whose value is not known yet. */
const stopIn: Shape<string> = (value, at) =>
  typeof value === 'string' && (value.includes('$') || durationOf(value) !== undefined)
    ? value
    : at.fault('should be a duration');

const tiers = ['production', 'staging', 'testing', 'development', 'other'] as const;

const environmentMembers = {
  name: attribute(environmentName),
  url: attribute(textOfAtMost(maximum_chars)),
  action: attribute(
    oneOf(['start', 'stop', 'prepare', 'verify', 'access'], 'should be start, stop, prepare, verify, or access'),
  ),
  on_stop: attribute(text),
  auto_stop_in: attribute(stopIn),
  deployment_tier: attribute(oneOf(tiers, `must be one of ${tiers.join(', ')}`)),
  // Older files have it, and it has no effect here.
  kubernetes: attribute<true>((value, at) => isMapping(value) || at.fault('should be a hash')),
};

const environmentText: Shape<{ name: string }> = (value, at) => {
  if (typeof value !== 'string') return at.fault('should be a hash or a string');
  const name = environmentName(value, at.attribute('name'));
  return name === undefined ? undefined : { name };
};

const detailedEnvironment: Shape<JobEnvironment> = mapped(
  record(environmentMembers, ['name']),
  ({ kubernetes: _, name, action = 'start', ...others }) =>
    name === undefined ? undefined : { name, action, ...others },
);

export const environment: Shape<JobEnvironment> = mappingOr(
  detailedEnvironment,
  mapped(environmentText, ({ name }) => ({ name, action: 'start' })),
);

const link = record(
  {
    name: attribute(filledText),
    url: attribute(filledText),
    filepath: attribute(text),
    link_type: attribute(oneOf(['other', 'runbook', 'image', 'package'])),
  },
  ['name', 'url'],
);

const links: Shape<Release['links']> = (value, at) =>
  isList(value)
    ? value.flatMap((item) => {
        const { name, url, ...others } = link(item, at.entry('link')) ?? {};
        return name === undefined || url === undefined ? [] : { name, url, ...others };
      })
    : at.fault('should be an array');

/** A time in ISO 8601, or a variable. */
const releasedAt: Shape<string> = mapped(text, (read, at) =>
  read.includes('$') || (/^\d{4}-\d\d-\d\d(?:[T ]|$)/.test(read) && !Number.isNaN(Date.parse(read)))
    ? read
    : at.fault('must be a valid datetime'),
);

export const release: Shape<Release> = mapped(
  record(
    {
      tag_name: attribute(filledText),
      description: attribute(filledText),
      name: attribute(text),
      ref: attribute(text),
      tag_message: attribute(text),
      milestones: attribute(textOrTexts),
      released_at: attribute(releasedAt),
      assets: entry(record({ links: entry(links) })),
    },
    ['tag_name', 'description'],
  ),
  ({ tag_name, description, milestones = [], assets, ...others }) =>
    tag_name === undefined || description === undefined
      ? undefined
      : { tag_name, description, ...others, milestones, links: assets?.links ?? [] },
);
