/** Creates objects with known members, such as rows and replies. */

/** Creates an object from the values of its members, in the order of their names. */
export type ObjectBuilder = (values: readonly unknown[]) => Record<string, unknown>;

const builders = new Map<string, ObjectBuilder>();

/**
 * An object that is filled by computed names becomes a hash table in V8 at about twenty members, which takes ten times as long to fill and is slow to read and
 * to print. A literal with all members does not; so the function is compiled for its names, which can only come from our own statements and schemas.
 * @param names of the members; of two that are equal, the last one has the value
 * @throws Error for a name that is special in a literal
 */
export function objectBuilder(names: readonly string[]): ObjectBuilder {
  const key = JSON.stringify(names);
  let builder = builders.get(key);
  if (!builder) {
    if (names.includes('__proto__')) throw new Error('__proto__ cannot be the name of a member.');
    const members = names.map((name, index) => `${JSON.stringify(name)}: values[${index}]`);
    builder = new Function('values', `return { ${members.join(', ')} };`) as ObjectBuilder;
    builders.set(key, builder);
  }
  return builder;
}
