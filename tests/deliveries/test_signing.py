from deliveries.engine.signing import sign


def test_matches_the_known_answer() -> None:
    body = (
        '{"type":"tracking.simple","created_at":"2026-01-02T00:00:00.000Z","data":'
        '{"shipment_id":4101,"tracking_number":"TEST0004101","carrier_name":"acme",'
        '"status":"delivered","status_description":"Left at door","location":"León, MX"}}'
    )
    secret = "0f1e2d3c4b5a69788796a5b4c3d2e1f0" * 2

    assert sign(secret, 1767312000123, "tracking.simple", body.encode()) == (
        "v1=97c534940c81f2266668b398d93cbdd8838ad72e71269f51c92615c838a0ccc8"
    )
