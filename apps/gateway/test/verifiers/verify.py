"""With PyJWT. Arguments: URL of the key set, issuer, audience, tokens. Prints the `sub` of each token, null if it is invalid."""
import json
import sys

import jwt

url, issuer, audience, *tokens = sys.argv[1:]
keys = jwt.PyJWKClient(url)


def subject(token):
    try:
        key = keys.get_signing_key_from_jwt(token).key
        claims = jwt.decode(token, key, algorithms=["ES256", "EdDSA"], issuer=issuer, audience=audience)
        return claims["sub"]
    # PyJWT 2.6 reports a key of another algorithm as TypeError.
    except (jwt.PyJWTError, TypeError):
        return None


print(json.dumps([subject(token) for token in tokens]))
