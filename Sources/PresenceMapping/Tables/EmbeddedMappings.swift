/// The tables of `Mappings/` by file name, compiled into this module by SwiftPM.
enum EmbeddedMappings {
    static var files: [String: [UInt8]] {
        [
            "activity-token-to-rpid.json": PackageResources.activity_token_to_rpid_json,
            "availability-classes.json": PackageResources.availability_classes_json,
            "availability-to-msrtc-pidf.json": PackageResources.availability_to_msrtc_pidf_json,
            "availability-to-pidf.json": PackageResources.availability_to_pidf_json,
            "availability-to-xpidf.json": PackageResources.availability_to_xpidf_json,
            "capabilities.json": PackageResources.capabilities_json,
            "combine.json": PackageResources.combine_json,
            "contact.json": PackageResources.contact_json,
            "container-policy.json": PackageResources.container_policy_json,
            "fields.json": PackageResources.fields_json,
            "free-busy.json": PackageResources.free_busy_json,
            "languages.json": PackageResources.languages_json,
            "location-to-place.json": PackageResources.location_to_place_json,
            "msrtc-pidf-to-availability.json": PackageResources.msrtc_pidf_to_availability_json,
            "other-text-to-availability.json": PackageResources.other_text_to_availability_json,
            "place-to-location.json": PackageResources.place_to_location_json,
            "rpid-to-availability.json": PackageResources.rpid_to_availability_json,
            "time-zones.json": PackageResources.time_zones_json,
            "xpidf-to-availability.json": PackageResources.xpidf_to_availability_json,
        ]
    }
}
