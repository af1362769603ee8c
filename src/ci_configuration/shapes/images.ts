/** The shapes of `image` and `services`, which the runner gets as they are. */
import type { Image, Service } from '../types.ts';
import { isList, isMapping, plainOf, type Value } from '../values.ts';
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
  textOrTexts,
  texts,
} from './shape.ts';
import { jobVariables } from './variables.ts';

const policies = ['always', 'never', 'if-not-present'] as const;
const policy = oneOf(policies, `should be one of: ${policies.join(', ')}`);

const pullPolicy: Shape<readonly string[]> = mapped(textOrTexts, (words, at) => {
  const good = words.map((word) => policy(word, at));
  return words.length > 0 && good.every((word) => word !== undefined) ? words : undefined;
});

const options =
  (keys: Readonly<Record<string, typeof optional>>): Shape<Readonly<Record<string, unknown>>> =>
  (value: Value, at) =>
    record(keys)(value, at) && isMapping(value) ? (plainOf(value) as Record<string, unknown>) : undefined;
const optional = attribute(text);

const members = {
  name: attribute(filledText),
  entrypoint: attribute(texts),
  pull_policy: entry(pullPolicy),
  docker: entry(options({ platform: optional, user: optional })),
  kubernetes: entry(options({ user: optional })),
};

/** A text is the name. */
const named: Shape<{ name: string }> = (value, at) => {
  if (typeof value !== 'string') return at.fault('should be a hash or a string');
  const name = filledText(value, at);
  return name === undefined ? undefined : { name };
};

export const image: Shape<Image> = mapped(mappingOr(record(members, ['name']), named), ({ name, ...others }) =>
  name === undefined ? undefined : { name, ...others },
);

const service: Shape<Service> = mapped(
  mappingOr(
    record({ ...members, alias: optional, command: attribute(texts), variables: entry(jobVariables) }, ['name']),
    mapped(named, (read) => ({ ...read, variables: [] })),
  ),
  ({ name, variables = [], ...others }) => (name === undefined ? undefined : { name, ...others, variables }),
);

export const services: Shape<readonly Service[]> = (value, at) =>
  isList(value) ? value.flatMap((item) => service(item, at.entry('service')) ?? []) : at.fault('should be a array');
