/** The cast is safe because the result has the same names. */
export const mapMembers = <Name extends string, Value, Mapped>(
  members: Readonly<Record<Name, Value>>,
  map: (value: Value, name: Name) => Mapped,
): Record<Name, Mapped> =>
  Object.fromEntries(
    Object.entries<Value>(members).map(([name, value]) => [name, map(value, name as Name)]),
  ) as Record<Name, Mapped>;
