/** Properties of XML projects, which texts reference to name versions. */

/** Each dependency can name a property that is as long as the file. */
const maximumLength = 255;
const maximumRounds = 5;

/**
 * Replaces references to properties, whose values can refer to others. Unknown or too long references stay.
 * @param reference matches one, with its name as the group
 */
export function interpolated(
  text: string,
  reference: RegExp,
  propertyOf: (name: string) => string | undefined,
): string {
  let value = text;
  for (let round = 0; round < maximumRounds && value.length < 1_000 && value.search(reference) >= 0; round++)
    value = value.replace(reference, (whole, name: string) => {
      const property = propertyOf(name) ?? whole;
      return property.length > maximumLength ? whole : property;
    });
  return value;
}
